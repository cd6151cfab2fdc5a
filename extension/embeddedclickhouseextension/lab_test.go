package embeddedclickhouseextension

import (
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/pitwall-otel/pitwall/internal/enginetest"
)

const (
	soon = 20 * time.Second // a condition that has not come by then will not come
	tick = 5 * time.Millisecond
)

// lab is an extension with a fake helper, and what it reports.
type lab struct {
	t    *testing.T
	cfg  *Config
	ext  *embedded
	logs *observer.ObservedLogs
	host *statusHost
}

// newLab makes an extension whose helper follows the script. It is not started; it is shut down at the test's end.
func newLab(t *testing.T, script ...string) *lab {
	t.Helper()
	cfg := createDefaultConfig().(*Config)
	cfg.DataDirectory = filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.Mkdir(cfg.DataDirectory, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(cfg.DataDirectory, scriptFile), []byte(strings.Join(script, "\n")), 0o600))
	cfg.ListenAddress = enginetest.FreeAddress(t)
	cfg.HelperPath = os.Args[0]
	cfg.CreateSchema = false // the fake helper knows no SQL
	return labWith(t, cfg)
}

func labWith(t *testing.T, cfg *Config) *lab {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	l := &lab{t: t, cfg: cfg, logs: logs, host: &statusHost{}, ext: newEmbedded(cfg, zap.New(core))}
	l.ext.pace = pace{
		firstRetry:   20 * time.Millisecond,
		longestRetry: 100 * time.Millisecond,
		healthy:      time.Hour,
		busyRetry:    10 * time.Millisecond,
		busyFor:      time.Hour,
		pingStarting: 5 * time.Millisecond,
		pingRunning:  time.Hour, // a dying process must not pass for a silent one
	}
	t.Cleanup(l.stop)
	return l
}

func (l *lab) start() {
	l.t.Helper()
	require.NoError(l.t, l.cfg.Validate())
	require.NoError(l.t, l.ext.Start(l.t.Context(), l.host))
}

func (l *lab) stop() { assert.NoError(l.t, l.ext.Shutdown(l.t.Context())) }

// ask sends the fake engine a request; one that ends the process has no answer.
func (l *lab) ask(path string, query url.Values) {
	l.t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + l.cfg.ListenAddress + path + "?" + query.Encode())
	if err == nil {
		_ = resp.Body.Close()
	}
}

func (l *lab) crash(code, say string) { l.ask("/exit", url.Values{"code": {code}, "say": {say}}) }

func (l *lab) runs() []fakeRun { return fakeRuns(l.t, l.cfg.DataDirectory) }

// cleanStops counts the runs that ended because they were asked to.
func (l *lab) cleanStops() int { return countLines(filepath.Join(l.cfg.DataDirectory, stopsFile)) }

// waitStatus waits until the statuses reported are these; each wanted one is the beginning of its report.
func (l *lab) waitStatus(want ...string) {
	l.t.Helper()
	require.EventuallyWithT(l.t, func(c *assert.CollectT) {
		got := l.host.all()
		if !assert.Len(c, got, len(want), "%q", got) {
			return
		}
		for i := range want {
			assert.Contains(c, got[i], want[i])
		}
	}, soon, tick)
}

// lines returns the log messages of a level with their error.
func (l *lab) lines(level zapcore.Level) (lines []string) {
	for _, entry := range l.logs.FilterLevelExact(level).All() {
		line := entry.Message
		if cause, ok := entry.ContextMap()["error"].(string); ok {
			line += ": " + cause
		}
		lines = append(lines, line)
	}
	return lines
}

// statusHost records the statuses a component reports.
type statusHost struct {
	mu     sync.Mutex
	events []string
}

func (h *statusHost) Report(event *componentstatus.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	said := event.Status().String()
	if event.Err() != nil {
		said += ": " + event.Err().Error()
	}
	h.events = append(h.events, said)
}

func (h *statusHost) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.events...)
}

func (*statusHost) GetExtensions() map[component.ID]component.Component { return nil }

func processGone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
