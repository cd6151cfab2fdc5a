package embeddedclickhouseextension

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/config/configopaque"
)

// minMemoryMiB is what the engine needs to start and merge small tables.
const minMemoryMiB = 256

// Config says where the embedded engine keeps its data, where it listens and who may use it.
type Config struct {
	// DataDirectory holds the engine's tables. One helper process owns it at a time.
	DataDirectory string `mapstructure:"data_directory"`
	// ListenAddress is the host:port of the ClickHouse HTTP interface.
	ListenAddress string `mapstructure:"listen_address"`
	// MemoryLimitMiB bounds the engine's memory, in MiB.
	MemoryLimitMiB uint64 `mapstructure:"memory_limit_mib"`

	// User may read and write. Its password stands here or in PasswordFile (default: the data directory's path with
	// ".password" after it). A password file that does not exist is made, with a random password.
	User         string              `mapstructure:"user"`
	Password     configopaque.String `mapstructure:"password"`
	PasswordFile string              `mapstructure:"password_file"`

	// Reader is a second account that may only read; none without a user name.
	Reader readerConfig `mapstructure:"reader"`
	// TLS turns the interface into HTTPS when both files are given.
	TLS tlsConfig `mapstructure:"tls"`

	// HelperPath is the program pitwall-clickhouse; by default the one beside the collector's executable.
	HelperPath string `mapstructure:"helper_path"`
	// LibraryPath is the engine, libchdb.so; by default the one beside the helper.
	LibraryPath string `mapstructure:"library_path"`

	// CreateSchema makes Pitwall's tables as soon as the engine answers for the first time.
	CreateSchema bool `mapstructure:"create_schema"`

	// StartTimeout is how long the collector's start waits for the engine to answer. A slower engine does not fail it.
	StartTimeout time.Duration `mapstructure:"start_timeout"`
	// StopTimeout is how long the helper may take to close its tables before it is killed.
	StopTimeout time.Duration `mapstructure:"stop_timeout"`

	_ struct{}
}

// readerConfig is the read-only account; its default password file is the data directory's path with
// ".reader-password" after it.
type readerConfig struct {
	User         string              `mapstructure:"user"`
	Password     configopaque.String `mapstructure:"password"`
	PasswordFile string              `mapstructure:"password_file"`
}

// tlsConfig names the PEM files of the server's certificate.
type tlsConfig struct {
	CertFile string `mapstructure:"cert_file"`
	KeyFile  string `mapstructure:"key_file"`
}

// Validate checks what can be checked without touching the disk.
func (cfg *Config) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }

	if cfg.DataDirectory == "" {
		bad("data_directory: must not be empty")
	}
	if host, err := checkAddress(cfg.ListenAddress); err != nil {
		bad("listen_address: %w", err)
	} else if !isLoopback(host) && cfg.Password == "" && cfg.PasswordFile == "" {
		bad("listen_address: %q can be reached from other machines: set password or password_file", cfg.ListenAddress)
	}
	if cfg.MemoryLimitMiB < minMemoryMiB {
		bad("memory_limit_mib: %d is too little for the engine: give it at least %d", cfg.MemoryLimitMiB, minMemoryMiB)
	}
	if cfg.User == "" {
		bad("user: must not be empty")
	}
	if cfg.Password != "" && cfg.PasswordFile != "" {
		bad("password: give it or password_file, not both")
	}
	if cfg.Reader.User == "" && (cfg.Reader.Password != "" || cfg.Reader.PasswordFile != "") {
		bad("reader::user: must not be empty when reader has a password")
	}
	if cfg.Reader.User != "" && cfg.Reader.User == cfg.User {
		bad("reader::user: %q is the name of user as well: the reader needs one of its own", cfg.User)
	}
	if cfg.Reader.Password != "" && cfg.Reader.PasswordFile != "" {
		bad("reader::password: give it or reader::password_file, not both")
	}
	if (cfg.TLS.CertFile == "") != (cfg.TLS.KeyFile == "") {
		bad("tls: needs both cert_file and key_file")
	}
	if cfg.StartTimeout <= 0 {
		bad("start_timeout: must be positive, not %s", cfg.StartTimeout)
	}
	if cfg.StopTimeout <= 0 {
		bad("stop_timeout: must be positive, not %s", cfg.StopTimeout)
	}
	return errors.Join(errs...)
}

// checkAddress splits host:port. The port must be a fixed one: everybody else has the address in their configuration.
func checkAddress(address string) (host string, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("%q is not host:port: %w", address, err)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("%q has no port between 1 and 65535", address)
	}
	return host, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (cfg *Config) usesTLS() bool { return cfg.TLS.CertFile != "" }

func (cfg *Config) passwordFile() string {
	if cfg.PasswordFile != "" {
		return cfg.PasswordFile
	}
	return filepath.Clean(cfg.DataDirectory) + ".password"
}

func (cfg *Config) readerPasswordFile() string {
	if cfg.Reader.PasswordFile != "" {
		return cfg.Reader.PasswordFile
	}
	return filepath.Clean(cfg.DataDirectory) + ".reader-password"
}
