package embeddedclickhouseextension

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/enginetest"
)

// engineLab is a lab with the real helper and engine, in their default pace.
func engineLab(t *testing.T, dataDirectory string) *lab {
	t.Helper()
	cfg := createDefaultConfig().(*Config)
	cfg.HelperPath, cfg.LibraryPath = enginetest.Binary(t)
	cfg.DataDirectory = dataDirectory
	cfg.ListenAddress = enginetest.FreeAddress(t)
	cfg.MemoryLimitMiB = minMemoryMiB // the least allowed must be enough
	cfg.StartTimeout = time.Minute    // a cold page cache on a busy machine
	l := labWith(t, cfg)
	l.ext.pace = defaultPace()
	return l
}

// sql asks the engine with the password the extension made.
func (l *lab) sql(statement string) (status int, answer string) {
	l.t.Helper()
	req, err := http.NewRequest(http.MethodPost, "http://"+l.cfg.ListenAddress+"/", strings.NewReader(statement))
	require.NoError(l.t, err)
	req.SetBasicAuth(l.cfg.User, readIfAny(l.cfg.passwordFile()))
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(l.t, err)
	return resp.StatusCode, strings.TrimSpace(string(body))
}

func (l *lab) requireSQL(statement, want string) {
	l.t.Helper()
	status, answer := l.sql(statement)
	require.Equal(l.t, http.StatusOK, status, answer)
	require.Equal(l.t, want, answer)
}

// helperPID is the process that answered last.
func (l *lab) helperPID() int {
	l.t.Helper()
	answers := l.logs.FilterMessage("The embedded ClickHouse answers").All()
	require.NotEmpty(l.t, answers, "%s", joined(l))
	return int(answers[len(answers)-1].ContextMap()["pid"].(int64))
}

func TestTheRealEngine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "clickhouse")
	l := engineLab(t, dir)
	l.start()
	l.waitStatus("StatusOK")
	// The tables are there when Start returns.
	l.requireSQL("SELECT count() FROM system.tables WHERE database = 'training_observability' AND name IN ('metric_points', 'otel_logs')", "2")
	l.requireSQL("CREATE TABLE default.kept (n UInt32) ENGINE = MergeTree ORDER BY n", "")
	l.requireSQL("INSERT INTO default.kept VALUES (1), (2), (39)", "")
	l.requireSQL("SELECT sum(n) FROM default.kept", "42")

	t.Run("asks for the password", func(t *testing.T) {
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := client.Post("http://"+l.cfg.ListenAddress+"/", "text/plain", strings.NewReader("SELECT 1"))
		require.NoError(t, err)
		defer resp.Body.Close()
		require.Equal(t, http.StatusForbidden, resp.StatusCode)
	})

	t.Run("comes back after SIGKILL with its data", func(t *testing.T) {
		first := l.helperPID()
		require.NoError(t, syscall.Kill(first, syscall.SIGKILL))
		l.waitStatus("StatusOK", "StatusRecoverableError: pitwall-clickhouse ended: signal: killed", "StatusOK")
		require.NotEqual(t, first, l.helperPID())
		l.requireSQL("SELECT sum(n) FROM default.kept", "42")
	})

	t.Run("stops with the extension", func(t *testing.T) {
		l.stop()
		require.True(t, processGone(l.helperPID()))
		status, _ := l.sql("SELECT 1")
		require.Zero(t, status)
	})

	t.Run("ends with a collector that was killed", func(t *testing.T) {
		next := engineLab(t, dir)
		kill := startCollector(t, l.cfg)
		defer kill()
		require.Eventually(t, func() bool { return l.ext.pinger.ping(t.Context()) == nil }, time.Minute, tick)
		kill()
		next.start() // on the same directory, while the other helper is closing
		require.Equal(t, "StatusOK", next.host.all()[len(next.host.all())-1])
		next.requireSQL("SELECT sum(n) FROM default.kept", "42")
		require.Error(t, l.ext.pinger.ping(t.Context()), "the killed collector's helper must be gone")
		next.stop()
	})
}

func TestARealHelperWithoutLibraryFailsTheStart(t *testing.T) {
	l := engineLab(t, t.TempDir())
	// Away from the library, which it looks for beside itself.
	program, err := os.ReadFile(l.cfg.HelperPath)
	require.NoError(t, err)
	l.cfg.HelperPath = filepath.Join(t.TempDir(), helperName)
	require.NoError(t, os.WriteFile(l.cfg.HelperPath, program, 0o700))
	l.cfg.LibraryPath = ""
	require.ErrorContains(t, l.ext.Start(t.Context(), l.host), "libchdb.so")
}

func TestASecondCollectorIsToldWhoOwnsTheData(t *testing.T) {
	dir := t.TempDir()
	first := engineLab(t, dir)
	first.start()
	second := engineLab(t, dir)
	second.cfg.StartTimeout = 3 * time.Second
	second.start()
	require.Contains(t, second.host.all()[0], "StatusRecoverableError: ")
	require.Contains(t, second.host.all()[0], "exit status 3: ")
	require.Contains(t, second.host.all()[0], strconv.Itoa(first.helperPID()))
	require.Equal(t, 1, second.logs.FilterMessageSnippet("Waiting for another process").Len())
}
