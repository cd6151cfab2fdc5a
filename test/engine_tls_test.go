package test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/extension/extensiontest"

	"github.com/pitwall-otel/pitwall/extension/embeddedclickhouseextension"
	"github.com/pitwall-otel/pitwall/internal/enginetest"
)

// Passwords with every character that a URL would change.
const (
	writerPassword = `w&=?#%+/ü "quoted"`
	readerPassword = `r&=?#%+/é 'quoted'`
)

// secured is an embedded engine as the extension starts it, with TLS and two accounts.
type secured struct {
	t       *testing.T
	address string
	ca      authority
}

func startSecured(t *testing.T) secured {
	t.Helper()
	s := secured{t: t, address: enginetest.FreeAddress(t), ca: newAuthority(t)}
	factory := embeddedclickhouseextension.NewFactory()
	cfg := factory.CreateDefaultConfig().(*embeddedclickhouseextension.Config)
	cfg.HelperPath, cfg.LibraryPath = enginetest.Binary(t)
	cfg.DataDirectory = filepath.Join(t.TempDir(), "clickhouse")
	cfg.ListenAddress = s.address
	cfg.StartTimeout = time.Minute
	cfg.CreateSchema = false // the tests make the tables they need
	cfg.User, cfg.Password = "writer", writerPassword
	cfg.Reader.User = "reader"
	cfg.Reader.PasswordFile = filepath.Join(t.TempDir(), "reader.password")
	require.NoError(t, os.WriteFile(cfg.Reader.PasswordFile, []byte(readerPassword+"\n"), 0o600))
	cfg.TLS.CertFile, cfg.TLS.KeyFile = s.ca.serverCertificate(t)
	require.NoError(t, cfg.Validate())

	extension, err := factory.Create(t.Context(), extensiontest.NewNopSettings(factory.Type()), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, extension.Shutdown(t.Context())) })
	require.NoError(t, extension.Start(t.Context(), componenttest.NewNopHost()))
	return s
}

// client trusts the certificate authority in a PEM file and nobody else.
func client(t *testing.T, caFile string) *http.Client {
	t.Helper()
	content, err := os.ReadFile(caFile)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(content))
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
	}}
}

// curl does what `curl --cacert ca.crt "https://HOST:PORT/?user=USER&password=SECRET" -d SQL` does, form type included.
func (s secured) curl(user, password, sql string, settings ...string) (status int, answer string) {
	s.t.Helper()
	query := url.Values{"user": {user}, "password": {password}}
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		query.Set(name, value)
	}
	resp, err := client(s.t, s.ca.file).Post("https://"+s.address+"/?"+query.Encode(),
		"application/x-www-form-urlencoded", strings.NewReader(sql))
	require.NoError(s.t, err)
	return read(s.t, resp)
}

func read(t *testing.T, resp *http.Response) (status int, answer string) {
	t.Helper()
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, strings.TrimSpace(string(body))
}

func (s secured) requireWriter(sql string) {
	s.t.Helper()
	status, answer := s.curl("writer", writerPassword, sql)
	require.Equal(s.t, http.StatusOK, status, answer)
}

func TestEngineOverTLS(t *testing.T) {
	seedQuery := seedFile(t, "seed_query.sql")
	s := startSecured(t)
	s.requireWriter("CREATE DATABASE training_observability")
	s.requireWriter(seedFile(t, "seed_table.sql"))
	s.requireWriter("INSERT INTO training_observability.metric_points (run_id, metric, value) VALUES ('r', 'loss', 2), ('r', 'loss', 4)")

	stored := func(t *testing.T) {
		t.Helper()
		status, answer := s.curl("reader", readerPassword, seedQuery)
		require.Equal(t, http.StatusOK, status, answer)
		require.Equal(t, "loss\t2\t3", answer)
	}
	t.Run("the reader asks the owner's query", stored)

	t.Run("credentials in headers", func(t *testing.T) {
		for name, dress := range map[string]func(*http.Request){
			"ClickHouse's": func(r *http.Request) {
				r.Header.Set("X-ClickHouse-User", "reader")
				r.Header.Set("X-ClickHouse-Key", readerPassword)
			},
			"basic": func(r *http.Request) { r.SetBasicAuth("reader", readerPassword) },
		} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+s.address, strings.NewReader("SELECT 7"))
			require.NoError(t, err)
			dress(req)
			resp, err := client(t, s.ca.file).Do(req)
			require.NoError(t, err)
			status, answer := read(t, resp)
			assert.Equal(t, http.StatusOK, status, "%s: %s", name, answer)
			assert.Equal(t, "7", answer, name)
		}
	})

	t.Run("the reader changes nothing", func(t *testing.T) {
		for _, sql := range []string{
			"INSERT INTO training_observability.metric_points (run_id, metric, value) VALUES ('r', 'loss', 100)",
			"INSERT INTO training_observability.metric_points (run_id, metric, value) SELECT 'r', 'loss', 100",
			"CREATE TABLE training_observability.other (n UInt8) ENGINE = Memory",
			"ALTER TABLE training_observability.metric_points DELETE WHERE 1",
			"TRUNCATE TABLE training_observability.metric_points",
			"DROP TABLE training_observability.metric_points",
			"DROP DATABASE training_observability",
			"SET readonly = 0",
		} {
			for _, settings := range [][]string{nil, {"readonly=0"}, {"session_id=s", "readonly=0"}} {
				status, answer := s.curl("reader", readerPassword, sql, settings...)
				assert.NotEqual(t, http.StatusOK, status, "%s %v: %s", sql, settings, answer)
				assert.NotContains(t, answer, readerPassword)
			}
		}
		stored(t)
	})

	t.Run("wrong credentials are refused without repeating them", func(t *testing.T) {
		for _, account := range [][2]string{
			{"reader", "guessed secret"},
			{"reader", ""},
			{"reader", writerPassword},
			{"writer", readerPassword},
			{"default", ""},
			{"nobody", "guessed secret"},
		} {
			status, answer := s.curl(account[0], account[1], "SELECT 1")
			assert.Equal(t, http.StatusForbidden, status, account[0])
			assert.Contains(t, answer, "516", account[0])
			assert.NotContains(t, answer, "guessed secret")
			assert.NotContains(t, answer, readerPassword)
		}
	})

	t.Run("a client that trusts another authority does not connect", func(t *testing.T) {
		resp, err := client(t, newAuthority(t).file).Get("https://" + s.address + "/ping")
		if err == nil {
			resp.Body.Close()
		}
		require.ErrorAs(t, err, new(x509.UnknownAuthorityError))
	})

	t.Run("plain HTTP is not served", func(t *testing.T) {
		resp, err := client(t, s.ca.file).Get("http://" + s.address + "/?query=SELECT+1")
		require.NoError(t, err)
		status, _ := read(t, resp)
		require.Equal(t, http.StatusBadRequest, status)
	})
}
