package enginereceiver

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/scraper/scraperhelper"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/exposition"
	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/mapping"
	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/targets"
)

// Config is the receiver's configuration.
type Config struct {
	// ClientConfig is how targets are asked; its Endpoint is not used.
	confighttp.ClientConfig        `mapstructure:",squash"`
	scraperhelper.ControllerConfig `mapstructure:",squash"`
	// MaxConcurrentScrapes is how many targets are asked and read at the same time.
	MaxConcurrentScrapes int `mapstructure:"max_concurrent_scrapes"`
	// MaxBodySize bounds an answer, in bytes, decompressed.
	MaxBodySize int64 `mapstructure:"max_body_size"`
	// OperationName is gen_ai.operation.name of all points that have it; engines do not say it.
	OperationName string `mapstructure:"operation_name"`
	// HostName is host.name of engines at a loopback address; empty is the kernel's name of this machine.
	HostName string         `mapstructure:"host_name"`
	Families FamiliesConfig `mapstructure:"families"`
	Limits   LimitsConfig   `mapstructure:"limits"`
	Targets  TargetsConfig  `mapstructure:"targets"`

	_ struct{}
}

// FamiliesConfig says which families of a page are used, by the names that engines give them (sglang:token_usage, also
// where a router wrote sglang_token_usage); "*" stands for any text.
type FamiliesConfig struct {
	// Include are the only families used, when there are any. Exclude wins.
	Include []string `mapstructure:"include"`
	Exclude []string `mapstructure:"exclude"`
	// KeepOriginal passes families that have a canonical name under their own too.
	KeepOriginal bool `mapstructure:"keep_original"`

	_ struct{}
}

// LimitsConfig bounds one target's page, each scrape. What is above is left out and counted.
type LimitsConfig struct {
	MaxLineBytes       int `mapstructure:"max_line_bytes"`
	MaxLabels          int `mapstructure:"max_labels"`
	MaxLabelValueBytes int `mapstructure:"max_label_value_bytes"`
	MaxFamilies        int `mapstructure:"max_families"`
	MaxSamples         int `mapstructure:"max_samples"`
	MaxBadLines        int `mapstructure:"max_bad_lines"`
	// MaxSeries are those remembered between scrapes, MaxUnknown points under their own name, MaxWorkers engines on a
	// router's page.
	MaxSeries  int `mapstructure:"max_series"`
	MaxUnknown int `mapstructure:"max_unknown"`
	MaxWorkers int `mapstructure:"max_workers"`

	_ struct{}
}

// TargetsConfig says what is scraped. What several sources name is scraped once.
type TargetsConfig struct {
	// Max is how many targets there may be; further ones are left out and counted.
	Max    int            `mapstructure:"max"`
	Static []targets.Spec `mapstructure:"static"`
	Files  FilesConfig    `mapstructure:"files"`
	DNS    []DNSConfig    `mapstructure:"dns"`
	// Routers are asked for their workers, which are then scraped one by one.
	Routers      []RouterConfig                              `mapstructure:"routers"`
	Registration configoptional.Optional[RegistrationConfig] `mapstructure:"registration"`

	_ struct{}
}

// FilesConfig names files with lists of targets.
type FilesConfig struct {
	// Paths may be patterns as path/filepath.Match has them.
	Paths           []string      `mapstructure:"paths"`
	RefreshInterval time.Duration `mapstructure:"refresh_interval"`

	_ struct{}
}

// DNSConfig is a name behind which engines are.
type DNSConfig struct {
	Name string `mapstructure:"name"`
	// Type is a, for addresses of both families, or srv.
	Type            string            `mapstructure:"type"`
	Port            int               `mapstructure:"port"`
	Kind            string            `mapstructure:"kind"`
	MetricsPath     string            `mapstructure:"metrics_path"`
	Labels          map[string]string `mapstructure:"labels"`
	RefreshInterval time.Duration     `mapstructure:"refresh_interval"`

	_ struct{}
}

// RouterConfig is a router that knows its workers.
type RouterConfig struct {
	Endpoint string `mapstructure:"endpoint"`
	// APIKey is the router's own, sent as bearer token to it and to nobody else.
	APIKey          configopaque.String `mapstructure:"api_key"`
	Kind            string              `mapstructure:"kind"`
	Labels          map[string]string   `mapstructure:"labels"`
	RefreshInterval time.Duration       `mapstructure:"refresh_interval"`

	_ struct{}
}

// RegistrationConfig is the HTTP server that programs register targets at.
type RegistrationConfig struct {
	confighttp.ServerConfig `mapstructure:",squash"`
	// Max is how many targets may be registered.
	Max int `mapstructure:"max"`
	// DefaultTTL is how long a target stays when the program does not say, MaxTTL how long at most.
	DefaultTTL time.Duration `mapstructure:"default_ttl"`
	MaxTTL     time.Duration `mapstructure:"max_ttl"`

	_ struct{}
}

const (
	defaultInterval    = 15 * time.Second
	defaultRefresh     = 30 * time.Second
	defaultFileRefresh = 5 * time.Second
	// registrationEndpoint is beside healthcheckv2's 13133 and the collector's own metrics at 13134.
	registrationEndpoint = "127.0.0.1:13135"
	// Each target has a goroutine and remembers its series.
	mostTargets    = 10_000
	mostBody       = 1 << 30
	mostConcurrent = 256
	leastInterval  = 100 * time.Millisecond
)

func createDefaultConfig() component.Config {
	client := confighttp.NewDefaultClientConfig()
	// A router asks each engine for at most 5 s, 32 at once: 64 engines of which some hang take 10 s.
	client.Timeout = 15 * time.Second
	// A kept connection saves a handshake; there is one for each target, however many targets there are.
	client.MaxIdleConnsPerHost, client.MaxIdleConns = 1, 0
	controller := scraperhelper.NewDefaultControllerConfig()
	controller.CollectionInterval = defaultInterval
	read, mapped := exposition.DefaultLimits(), mapping.DefaultOptions()
	server := confighttp.NewDefaultServerConfig()
	server.NetAddr.Endpoint = registrationEndpoint
	server.MaxRequestBodySize = 64 << 10
	server.ReadTimeout = 10 * time.Second // a client that stalls must not hold up the collector's end
	return &Config{
		ClientConfig:         client,
		ControllerConfig:     controller,
		MaxConcurrentScrapes: 16,
		// A router in front of 64 engines answers 6 to 30 MB.
		MaxBodySize:   64 << 20,
		OperationName: mapped.Operation,
		Families:      FamiliesConfig{Exclude: mapped.Deny},
		Limits: LimitsConfig{
			MaxLineBytes: read.LineBytes, MaxLabels: read.Labels, MaxLabelValueBytes: read.LabelValueBytes,
			MaxFamilies: read.Families, MaxSamples: read.Samples, MaxBadLines: read.BadLines,
			MaxSeries: mapped.MaxSeries, MaxUnknown: mapped.MaxUnknown, MaxWorkers: mapped.MaxWorkers,
		},
		Targets: TargetsConfig{
			Max:   1000,
			Files: FilesConfig{RefreshInterval: defaultFileRefresh},
			Registration: configoptional.Default(RegistrationConfig{
				ServerConfig: server, Max: 256, DefaultTTL: time.Hour, MaxTTL: 7 * 24 * time.Hour,
			}),
		},
	}
}

// Validate reports every key that cannot work.
func (c *Config) Validate() error {
	var errs []error
	if c.ClientConfig.Endpoint != "" {
		errs = append(errs, errors.New("'endpoint' is not a key of this receiver: addresses go to 'targets::static'"))
	}
	// A scrape without an end would hold its place among max_concurrent_scrapes for ever.
	if c.ClientConfig.Timeout <= 0 {
		errs = append(errs, fmt.Errorf("'timeout' must be greater than 0, not %s", c.ClientConfig.Timeout))
	}
	if c.CollectionInterval < leastInterval {
		errs = append(errs, fmt.Errorf("'collection_interval' must be at least %s, not %s", leastInterval, c.CollectionInterval))
	}
	if c.MaxConcurrentScrapes < 1 || c.MaxConcurrentScrapes > mostConcurrent {
		errs = append(errs, fmt.Errorf("'max_concurrent_scrapes' must be between 1 and %d, not %d", mostConcurrent, c.MaxConcurrentScrapes))
	}
	if c.MaxBodySize < 1 || c.MaxBodySize > mostBody {
		errs = append(errs, fmt.Errorf("'max_body_size' must be between 1 and %d, not %d", mostBody, c.MaxBodySize))
	}
	if c.OperationName == "" {
		errs = append(errs, errors.New("'operation_name' is missing"))
	}
	for key, patterns := range map[string][]string{"include": c.Families.Include, "exclude": c.Families.Exclude} {
		if slices.Contains(patterns, "") {
			errs = append(errs, fmt.Errorf("'families::%s' has an empty name", key))
		}
	}
	return errors.Join(append(errs, c.Limits.check(), c.Targets.check())...)
}

func (c *LimitsConfig) check() error {
	var errs []error
	for _, limit := range []struct {
		key   string
		value int
	}{
		{"max_line_bytes", c.MaxLineBytes},
		{"max_labels", c.MaxLabels},
		{"max_label_value_bytes", c.MaxLabelValueBytes},
		{"max_families", c.MaxFamilies},
		{"max_samples", c.MaxSamples},
		{"max_bad_lines", c.MaxBadLines},
		{"max_series", c.MaxSeries},
		{"max_workers", c.MaxWorkers},
	} {
		if limit.value < 1 {
			errs = append(errs, fmt.Errorf("'limits::%s' must be greater than 0, not %d", limit.key, limit.value))
		}
	}
	if c.MaxUnknown < 0 {
		errs = append(errs, fmt.Errorf("'limits::max_unknown' must not be negative, not %d", c.MaxUnknown))
	}
	return errors.Join(errs...)
}

// read are the limits of reading a page; mapping has the others.
func (c *LimitsConfig) read() exposition.Limits {
	return exposition.Limits{
		LineBytes: c.MaxLineBytes, LabelValueBytes: c.MaxLabelValueBytes, Labels: c.MaxLabels,
		Samples: c.MaxSamples, Families: c.MaxFamilies, BadLines: c.MaxBadLines,
	}
}

// check is not called Validate, which confmap would call a second time.
func (c *TargetsConfig) check() error {
	var errs []error
	if c.Max < 1 || c.Max > mostTargets {
		errs = append(errs, fmt.Errorf("'targets::max' must be between 1 and %d, not %d", mostTargets, c.Max))
	}
	for i := range c.Static {
		if _, err := c.Static[i].Target("static"); err != nil {
			errs = append(errs, fmt.Errorf("'targets::static::%d': %w", i, err))
		}
	}
	if _, err := targets.NewFiles(c.Files.Paths); err != nil {
		errs = append(errs, fmt.Errorf("'targets::files::paths': %w", err))
	}
	errs = append(errs, refresh("files", c.Files.RefreshInterval))
	for i := range c.DNS {
		errs = append(errs, c.DNS[i].check(fmt.Sprintf("dns::%d", i)))
	}
	for i := range c.Routers {
		errs = append(errs, c.Routers[i].check(fmt.Sprintf("routers::%d", i)))
	}
	if r := c.Registration.Get(); r != nil {
		if r.Max < 1 || r.Max > mostTargets {
			errs = append(errs, fmt.Errorf("'targets::registration::max' must be between 1 and %d, not %d", mostTargets, r.Max))
		}
		if r.DefaultTTL < time.Second || r.DefaultTTL > r.MaxTTL {
			errs = append(errs, fmt.Errorf("'targets::registration::default_ttl' must be between 1s and 'max_ttl', not %s", r.DefaultTTL))
		}
	}
	return errors.Join(errs...)
}

// refresh checks an interval; 0 is the default for lists in the configuration, which have no defaults of their own.
func refresh(key string, interval time.Duration) error {
	if interval != 0 && interval < leastInterval {
		return fmt.Errorf("'targets::%s::refresh_interval' must be at least %s, not %s", key, leastInterval, interval)
	}
	return nil
}

func (c *DNSConfig) check(key string) error {
	errs := []error{refresh(key, c.RefreshInterval)}
	if c.Name == "" {
		errs = append(errs, fmt.Errorf("'targets::%s::name' is missing", key))
	}
	switch c.Type {
	case "", targets.TypeA:
		if c.Port < 1 || c.Port > 65535 {
			errs = append(errs, fmt.Errorf("'targets::%s::port' must be from 1 to 65535, not %d", key, c.Port))
		}
	case targets.TypeSRV:
		if c.Port != 0 {
			errs = append(errs, fmt.Errorf("'targets::%s::port' has no use: srv records have ports", key))
		}
	default:
		errs = append(errs, fmt.Errorf("'targets::%s::type' must be a or srv, not %q", key, c.Type))
	}
	return errors.Join(append(errs, checkSpec(key, c.spec()))...)
}

func (c *DNSConfig) spec() targets.Spec {
	return targets.Spec{Kind: c.Kind, MetricsPath: c.MetricsPath, Labels: c.Labels}
}

func (c *RouterConfig) check(key string) error {
	errs := []error{refresh(key, c.RefreshInterval)}
	if _, err := targets.NewRouter(nil, c.Endpoint, "", targets.Spec{}); err != nil {
		errs = append(errs, fmt.Errorf("'targets::%s': %w", key, err))
	}
	if slices.Contains([]string{targets.KindRouter, targets.KindGateway}, c.Kind) {
		errs = append(errs, fmt.Errorf("'targets::%s::kind' is that of the workers, which cannot be %q", key, c.Kind))
	}
	return errors.Join(append(errs, checkSpec(key, c.spec()))...)
}

func (c *RouterConfig) spec() targets.Spec {
	return targets.Spec{Kind: c.Kind, Labels: c.Labels}
}

// checkSpec finds out at the start what would fail for every address.
func checkSpec(key string, spec targets.Spec) error {
	spec.Endpoint = "127.0.0.1:1"
	if _, err := spec.Target(""); err != nil {
		return fmt.Errorf("'targets::%s': %w", key, err)
	}
	return nil
}
