package embeddedclickhouseextension

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap/confmaptest"
)

// load reads a configuration as the collector does: over the defaults, then validated.
func load(t *testing.T, path string) (*Config, error) {
	t.Helper()
	conf, err := confmaptest.LoadConf(path)
	require.NoError(t, err)
	cfg := createDefaultConfig().(*Config)
	if err := conf.Unmarshal(cfg); err != nil {
		return nil, err
	}
	return cfg, cfg.Validate()
}

func TestConfigs(t *testing.T) {
	f := func(name string, change func(*Config)) {
		t.Helper()
		got, err := load(t, filepath.Join("testdata", "config", name+".yaml"))
		require.NoError(t, err)
		want := &Config{
			DataDirectory: "data/clickhouse", ListenAddress: "127.0.0.1:8123", MemoryLimitMiB: 2048, User: "default", CreateSchema: true,
			StartTimeout: 15 * time.Second, StopTimeout: 15 * time.Second,
		}
		change(want)
		assert.Equal(t, want, got)
	}
	f("empty", func(*Config) {})
	f("ipv6_loopback", func(cfg *Config) { cfg.ListenAddress = "[::1]:8123" })
	f("inline_passwords", func(cfg *Config) {
		cfg.ListenAddress, cfg.Password = ":8123", "one"
		cfg.Reader = readerConfig{User: "viewer", Password: "two"}
	})
	f("full", func(cfg *Config) {
		*cfg = Config{
			DataDirectory: "/var/lib/pitwall/clickhouse", ListenAddress: "0.0.0.0:8443", MemoryLimitMiB: 8192,
			User: "writer", PasswordFile: "/etc/pitwall/writer.password",
			Reader:     readerConfig{User: "viewer", PasswordFile: "/etc/pitwall/viewer.password"},
			TLS:        tlsConfig{CertFile: "/etc/pitwall/server.crt", KeyFile: "/etc/pitwall/server.key"},
			HelperPath: "/opt/pitwall/pitwall-clickhouse", LibraryPath: "/opt/pitwall/libchdb.so",
			StartTimeout: time.Minute, StopTimeout: 30 * time.Second,
		}
	})
}

func TestInvalidConfigs(t *testing.T) {
	want := map[string]string{
		"data_directory_empty":   `data_directory: must not be empty`,
		"listen_no_port":         `listen_address: "localhost" is not host:port`,
		"listen_port_zero":       `listen_address: "127.0.0.1:0" has no port`,
		"listen_beyond_loopback": `listen_address: "0.0.0.0:8123" can be reached from other machines: set password or password_file`,
		"listen_everywhere":      `listen_address: ":8123" can be reached from other machines`,
		"memory_too_little":      `memory_limit_mib: 64 is too little`,
		"user_empty":             `user: must not be empty`,
		"password_twice":         `password: give it or password_file, not both`,
		"reader_without_user":    `reader::user: must not be empty`,
		"reader_same_user":       `reader::user: "default" is the name of user as well`,
		"reader_password_twice":  `reader::password: give it or reader::password_file, not both`,
		"tls_without_key":        `tls: needs both cert_file and key_file`,
		"start_timeout_zero":     `start_timeout: must be positive, not 0s`,
		"stop_timeout_negative":  `stop_timeout: must be positive, not -1s`,
		"unknown_key":            `memory_limit`,
	}
	files, err := os.ReadDir("testdata/invalid")
	require.NoError(t, err)
	assert.Len(t, files, len(want))
	for _, file := range files {
		name := strings.TrimSuffix(file.Name(), ".yaml")
		t.Run(name, func(t *testing.T) {
			require.Contains(t, want, name)
			_, err := load(t, filepath.Join("testdata", "invalid", file.Name()))
			require.ErrorContains(t, err, want[name])
		})
	}
}

func TestReachable(t *testing.T) {
	f := func(listen, want string) {
		t.Helper()
		assert.Equal(t, want, reachable(listen))
	}
	f("127.0.0.1:8123", "127.0.0.1:8123")
	f("localhost:8123", "localhost:8123")
	f(":8123", "127.0.0.1:8123")
	f("0.0.0.0:8123", "127.0.0.1:8123")
	f("[::]:8123", "[::1]:8123")
	f("10.1.2.3:8443", "10.1.2.3:8443")
}
