package metricpointsexporter

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configopaque"

	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/block"
	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/points"
	"github.com/pitwall-otel/pitwall/internal/clickhouse"
)

// Config is the exporter's configuration. The keys of confighttp's client (endpoint, tls, auth, proxy_url, timeout, …)
// stand beside ours; compression is the codec of the blocks (lz4, zstd or none) and not an HTTP content encoding.
type Config struct {
	ClientConfig confighttp.ClientConfig `mapstructure:",squash"`

	// Username and one of Password and PasswordFile identify us to ClickHouse; leave all empty to use auth.
	Username     string              `mapstructure:"username"`
	Password     configopaque.String `mapstructure:"password"`
	PasswordFile string              `mapstructure:"password_file"`

	Database string `mapstructure:"database"`
	Table    string `mapstructure:"table"`
	// Cluster makes the schema ON CLUSTER with replicated tables behind a distributed one.
	Cluster string `mapstructure:"cluster"`
	// CreateSchema applies the migrations at start.
	CreateSchema bool `mapstructure:"create_schema"`

	// ResourceTags are the resource attributes that become tags.
	ResourceTags []string          `mapstructure:"resource_tags"`
	TimePolicy   points.TimePolicy `mapstructure:"time_policy"`
	Limits       LimitsConfig      `mapstructure:"limits"`

	Insert     InsertConfig     `mapstructure:"insert"`
	Log        LogConfig        `mapstructure:"log"`
	Retry      RetryConfig      `mapstructure:"retry"`
	DeadLetter DeadLetterConfig `mapstructure:"dead_letter"`

	BatchIDs BatchIDsConfig `mapstructure:"batch_ids"`

	Cumulative CumulativeConfig `mapstructure:"cumulative_histograms"`

	// LedgerInterval is how often the ledger is written as pitwall.* rows; 0 writes none.
	LedgerInterval time.Duration `mapstructure:"ledger_interval"`
	// HostName is the host of these rows; empty: the kernel's name of this machine.
	HostName string `mapstructure:"host_name"`
}

// LimitsConfig bounds what one point may bring into the table.
type LimitsConfig struct {
	NameBytes      int `mapstructure:"name_bytes"`
	AttributeBytes int `mapstructure:"attribute_bytes"`
	TagsBytes      int `mapstructure:"tags_bytes"`
}

// InsertConfig says when rows become an INSERT: at that many or after that time, whichever comes first.
type InsertConfig struct {
	Rows     int           `mapstructure:"rows"`
	Interval time.Duration `mapstructure:"interval"`
	// InFlight is the number of inserts under way at once.
	InFlight int `mapstructure:"in_flight"`
}

// LogConfig places and bounds the write-ahead log.
type LogConfig struct {
	Directory  string `mapstructure:"directory"`
	MaxSizeMiB int64  `mapstructure:"max_size_mib"`
	MinFreeMiB int64  `mapstructure:"min_free_mib"`
}

// RetryConfig is the pause between attempts of one insert; attempts never end.
type RetryConfig struct {
	InitialInterval time.Duration `mapstructure:"initial_interval"`
	MaxInterval     time.Duration `mapstructure:"max_interval"`
}

// DeadLetterConfig bounds the files of blocks that the server will never take, below the log's directory.
type DeadLetterConfig struct {
	MaxSizeMiB int64 `mapstructure:"max_size_mib"`
}

// BatchIDsConfig bounds how long and how many ids of accepted requests are remembered, below the log's directory.
type BatchIDsConfig struct {
	Window time.Duration `mapstructure:"window"`
	// MaxEntries of 0 looks at no ids.
	MaxEntries int `mapstructure:"max_entries"`
}

// CumulativeConfig bounds what is remembered of cumulative histograms, whose rows are what came since the value before.
type CumulativeConfig struct {
	// MaxSizeMiB is in memory and, once per segment, in the log, of which it takes a 32nd at most.
	MaxSizeMiB int64 `mapstructure:"max_size_mib"`
	// MaxStaleness is how long a series that is silent is remembered.
	MaxStaleness time.Duration `mapstructure:"max_staleness"`
}

var (
	errNoEndpoint     = errors.New("'endpoint' must be the address of ClickHouse's HTTP interface, such as http://127.0.0.1:8123")
	errTwoPasswords   = errors.New("'password' and 'password_file' exclude each other")
	errTwoIdentities  = errors.New("'username' and 'auth' exclude each other")
	errNoUsername     = errors.New("'password' needs 'username'")
	errNoDirectory    = errors.New("'log::directory' must not be empty")
	errLogSize        = errors.New("'log::max_size_mib' must be at least 16")
	errMinFree        = errors.New("'log::min_free_mib' must not be negative")
	errInsertRows     = errors.New("'insert::rows' must be between 1 and 1000000")
	errInsertInterval = errors.New("'insert::interval' must be positive")
	errInFlight       = errors.New("'insert::in_flight' must be between 1 and 32")
	errRetry          = errors.New("'retry::initial_interval' must be positive and at most 'retry::max_interval'")
	errDeadLetter     = errors.New("'dead_letter::max_size_mib' must not be negative")
	errBatchWindow    = errors.New("'batch_ids::window' must be between 1s and 168h")
	errBatchEntries   = errors.New("'batch_ids::max_entries' must be between 0 and 10000000")
	errCumulative     = errors.New("'cumulative_histograms::max_size_mib' must be between 1 and 32")
	errStaleness      = errors.New("'cumulative_histograms::max_staleness' must be at least 1m")
	errLimits         = errors.New("'limits' must be positive, and 'limits::tags_bytes' at most 1048576")
	errLedger         = errors.New("'ledger_interval' must be 0 or at least 1s")
)

// Validate reports every key that cannot work, not only the first.
func (c *Config) Validate() error {
	var errs []error
	check := func(ok bool, err error) {
		if !ok {
			errs = append(errs, err)
		}
	}
	address, err := url.Parse(c.ClientConfig.Endpoint)
	check(err == nil && (address.Scheme == "http" || address.Scheme == "https") && address.Host != "", errNoEndpoint)
	check(err != nil || address.User == nil, errors.New("'endpoint' must not hold a password; use 'username' and 'password'"))
	check(c.Password == "" || c.PasswordFile == "", errTwoPasswords)
	check(c.Username == "" || !c.ClientConfig.Auth.HasValue(), errTwoIdentities)
	check(c.Username != "" || (c.Password == "" && c.PasswordFile == ""), errNoUsername)
	if err := c.target().Validate(); err != nil {
		errs = append(errs, err)
	}
	switch c.TimePolicy {
	case points.TimeKeep, points.TimeClamp, points.TimeDrop:
	default:
		check(false, fmt.Errorf("'time_policy' must be keep, clamp or drop, not %q", c.TimePolicy))
	}
	switch c.compression() {
	case block.LZ4, block.ZSTD, block.None:
	default:
		check(false, fmt.Errorf("'compression' must be lz4, zstd or none, not %q", c.ClientConfig.Compression))
	}
	check(c.Log.Directory != "", errNoDirectory)
	check(c.Log.MaxSizeMiB >= 16, errLogSize)
	check(c.Log.MinFreeMiB >= 0, errMinFree)
	check(c.Insert.Rows >= 1 && c.Insert.Rows <= 1_000_000, errInsertRows)
	check(c.Insert.Interval > 0, errInsertInterval)
	check(c.Insert.InFlight >= 1 && c.Insert.InFlight <= 32, errInFlight)
	check(c.Retry.InitialInterval > 0 && c.Retry.InitialInterval <= c.Retry.MaxInterval, errRetry)
	check(c.DeadLetter.MaxSizeMiB >= 0, errDeadLetter)
	check(c.Limits.NameBytes > 0 && c.Limits.AttributeBytes > 0 && c.Limits.TagsBytes > 0 && c.Limits.TagsBytes <= 1<<20, errLimits)
	check(c.BatchIDs.Window >= time.Second && c.BatchIDs.Window <= 168*time.Hour, errBatchWindow)
	check(c.BatchIDs.MaxEntries >= 0 && c.BatchIDs.MaxEntries <= 10_000_000, errBatchEntries)
	check(c.Cumulative.MaxSizeMiB >= 1 && c.Cumulative.MaxSizeMiB <= 32, errCumulative)
	check(c.Cumulative.MaxStaleness >= time.Minute, errStaleness)
	check(c.LedgerInterval == 0 || c.LedgerInterval >= time.Second, errLedger)
	return errors.Join(errs...)
}

// compression is the codec of the blocks; confighttp must not compress them once more.
func (c *Config) compression() block.Compression {
	return block.Compression(c.ClientConfig.Compression)
}

func (c *Config) target() clickhouse.Target {
	return clickhouse.Target{Database: c.Database, Table: c.Table, Cluster: c.Cluster}
}
