package embeddedclickhouseextension

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

func TestShutdownStopsTheHelper(t *testing.T) {
	l := newLab(t, "serve")
	l.start()
	l.stop()
	assert.True(t, processGone(l.runs()[0].PID))
	assert.Equal(t, 1, l.cleanStops())
	l.waitStatus("StatusOK") // stopping is not an error
}

func TestShutdownKillsAHelperThatDoesNotStop(t *testing.T) {
	for _, tt := range []struct {
		name        string
		stopTimeout time.Duration
		shutdown    time.Duration
	}{
		{"after stop_timeout", 50 * time.Millisecond, time.Hour},
		{"when the collector has no more patience", time.Hour, 50 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLab(t, "deaf")
			l.cfg.StopTimeout = tt.stopTimeout
			l.start()
			ctx, cancel := context.WithTimeout(t.Context(), tt.shutdown)
			defer cancel()
			require.NoError(t, l.ext.Shutdown(ctx))
			assert.True(t, processGone(l.runs()[0].PID))
			assert.Zero(t, l.cleanStops())
			assert.Equal(t, []string{"The embedded ClickHouse did not stop in time and was killed"}, l.lines(zapcore.WarnLevel))
		})
	}
}

func TestShutdownDuringAPause(t *testing.T) {
	l := newLab(t, "exit 1 down")
	l.cfg.StartTimeout = 10 * time.Millisecond
	l.ext.pace.firstRetry, l.ext.pace.longestRetry = time.Hour, time.Hour
	l.start()
	require.Eventually(t, func() bool { return len(pauses(l)) == 1 }, soon, tick)
	l.stop()
	assert.Len(t, l.runs(), 1)
}

// The terminal sends Ctrl-C to its whole foreground process group.
func TestTheHelperHasAProcessGroupOfItsOwn(t *testing.T) {
	l := newLab(t, "serve")
	l.start()
	pid := l.runs()[0].PID
	group, err := syscall.Getpgid(pid)
	require.NoError(t, err)
	assert.Equal(t, pid, group)
}

const collectorArgument = "as-collector"

// fakeCollector runs the extension with the configuration given as JSON until it is killed.
func fakeCollector(config string) int {
	cfg := createDefaultConfig().(*Config)
	if err := json.Unmarshal([]byte(config), cfg); err != nil {
		return 1
	}
	log, err := zap.NewDevelopment()
	if err != nil {
		return 1
	}
	if err := newEmbedded(cfg, log).Start(context.Background(), &statusHost{}); err != nil {
		log.Error("start", zap.Error(err))
		return 1
	}
	select {}
}

// startCollector runs the extension in a process of its own, which kill ends with SIGKILL.
func startCollector(t *testing.T, cfg *Config) (kill func()) {
	t.Helper()
	config, err := json.Marshal(cfg)
	require.NoError(t, err)
	cmd := exec.Command(os.Args[0], collectorArgument, string(config))
	cmd.Stderr = t.Output()
	cmd.WaitDelay = soon
	require.NoError(t, cmd.Start())
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

func TestAKilledCollectorLeavesNoHelper(t *testing.T) {
	l := newLab(t, "serve")
	kill := startCollector(t, l.cfg)
	defer kill()
	require.Eventually(t, func() bool { return l.ext.pinger.ping(t.Context()) == nil }, soon, tick)
	kill()
	require.Eventually(t, func() bool { return l.cleanStops() == 1 }, soon, tick)
}
