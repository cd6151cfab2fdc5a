package embeddedclickhouseextension

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zapcore"
)

func TestACrashedEngineIsStartedAgain(t *testing.T) {
	for _, tt := range []struct {
		name  string
		crash func(l *lab)
		want  string
	}{
		{"exit", func(l *lab) { l.crash("1", "out of memory") }, "exit status 1: out of memory"},
		{"clean exit nobody asked for", func(l *lab) { l.crash("0", "bye") }, "exit status 0: bye"},
		{"kill", func(l *lab) { _ = syscall.Kill(l.runs()[0].PID, syscall.SIGKILL) }, "signal: killed"},
		{"abort", func(l *lab) { _ = syscall.Kill(l.runs()[0].PID, syscall.SIGABRT) }, "exit status 2: SIGABRT: abort"},
		{"code 2 after it had answered", func(l *lab) { l.crash("2", "why") }, "exit status 2: why"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLab(t, "say listening", "serve")
			l.start()
			tt.crash(l)
			l.waitStatus("StatusOK", "StatusRecoverableError", "StatusOK")
			assert.Equal(t, "StatusRecoverableError: pitwall-clickhouse ended: "+tt.want, l.host.all()[1])
			runs := l.runs()
			require.Len(t, runs, 2)
			assert.True(t, processGone(runs[0].PID))
		})
	}
}

// pauses are those logged before each new start.
func pauses(l *lab) (pauses []time.Duration) {
	for _, entry := range l.logs.FilterFieldKey("after").All() {
		pauses = append(pauses, entry.ContextMap()["after"].(time.Duration))
	}
	return pauses
}

// requirePauses allows for a quarter of jitter.
func requirePauses(t *testing.T, want, got []time.Duration) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		assert.InDelta(t, want[i], got[i], float64(want[i])/4+1, "pause %d: %s", i, got[i])
	}
}

func TestPausesGrowToTheirLimit(t *testing.T) {
	l := newLab(t, "exit 1 a", "exit 1 b", "exit 1 c", "exit 1 d", "exit 1 e", "serve")
	l.start()
	ms := time.Millisecond
	requirePauses(t, []time.Duration{20 * ms, 40 * ms, 80 * ms, 100 * ms, 100 * ms}, pauses(l))
}

func TestOnlyAHealthyRunStartsThePausesAnew(t *testing.T) {
	ms := time.Millisecond
	for _, tt := range []struct {
		name    string
		healthy time.Duration
		want    []time.Duration
	}{
		{"answered long enough", time.Nanosecond, []time.Duration{20 * ms, 40 * ms, 20 * ms}},
		{"died too early", time.Hour, []time.Duration{20 * ms, 40 * ms, 80 * ms}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLab(t, "exit 1 a", "exit 1 b", "serve")
			l.ext.pace.healthy = tt.healthy
			l.start()
			l.crash("1", "c")
			require.Eventually(t, func() bool { return len(l.runs()) == 4 }, soon, tick)
			requirePauses(t, tt.want, pauses(l))
		})
	}
}

func TestDefaultPauses(t *testing.T) {
	assert.Equal(t, time.Second, defaultPace().firstRetry)
	assert.Equal(t, 30*time.Second, defaultPace().longestRetry)
	assert.Equal(t, time.Minute, defaultPace().healthy)
}

func TestAConfigurationErrorAfterTheStartIsPermanent(t *testing.T) {
	l := newLab(t, "serve", "exit 2 --library: gone")
	l.start()
	l.crash("1", "first")
	l.waitStatus("StatusOK", "StatusRecoverableError",
		"StatusPermanentError: pitwall-clickhouse ended: exit status 2: --library: gone")
	<-l.ext.done
	assert.Len(t, l.runs(), 2, "it must not be started again")
}

// Go gives a panic the exit code of a configuration error.
func TestACrashBeforeTheFirstAnswerIsNoConfigurationError(t *testing.T) {
	l := newLab(t, `exit 2 panic: index out of range\n\ngoroutine 1 [running]:`, "serve")
	l.start()
	l.waitStatus("StatusRecoverableError: pitwall-clickhouse ended: exit status 2: panic: index out of range", "StatusOK")
}

func TestWaitingForAnOldHelperIsSaidOnce(t *testing.T) {
	owned := "exit 3 data directory is owned by process 4711"
	l := newLab(t, owned, owned, owned, owned, "say hello", "serve")
	l.start()
	assert.Equal(t, []string{
		"Waiting for another process to let go of the embedded ClickHouse's data directory or address: " +
			"pitwall-clickhouse ended: exit status 3: data directory is owned by process 4711",
	}, l.lines(zapcore.WarnLevel))
	assert.Empty(t, l.lines(zapcore.ErrorLevel))
	assert.Contains(t, l.host.all()[0], "StatusRecoverableError: ")
	assert.Contains(t, l.host.all()[0], "owned by process 4711")
	assert.Equal(t, "StatusOK", l.host.all()[len(l.host.all())-1])
	assert.Equal(t, 1, l.logs.FilterMessage("data directory is owned by process 4711").FilterLevelExact(zapcore.InfoLevel).Len())

	// Once the helper serves, its lines are told again.
	l.ask("/exit", map[string][]string{"code": {"1"}, "say": {"later"}})
	require.Eventually(t, func() bool {
		return l.logs.FilterMessage("later").FilterLevelExact(zapcore.InfoLevel).Len() == 1
	}, soon, tick)
}

func TestAnOwnerThatStaysIsWaitedForWithBackoff(t *testing.T) {
	l := newLab(t, "exit 3 owned")
	l.cfg.StartTimeout = 50 * time.Millisecond
	l.ext.pace.busyFor = 0
	l.start()
	require.Eventually(t, func() bool { return l.logs.FilterFieldKey("next_try_after").Len() >= 3 }, soon, tick)
	assert.Equal(t, 1, l.logs.FilterMessageSnippet("Waiting for another process").Len())
}

func TestAnEngineThatFallsSilentIsReportedNotKilled(t *testing.T) {
	l := newLab(t, "serve")
	l.ext.pace.pingRunning = 5 * time.Millisecond
	l.start()
	l.ask("/mute", nil)
	l.waitStatus("StatusOK", "StatusRecoverableError: pitwall-clickhouse runs but does not answer: ")
	l.ask("/unmute", nil)
	l.waitStatus("StatusOK", "StatusRecoverableError", "StatusOK")
	assert.Len(t, l.runs(), 1)
}

func TestLogLinesOfTheHelperAreForwarded(t *testing.T) {
	l := newLab(t, "say engine 26.7 loaded")
	l.start()
	require.Equal(t, 1, l.logs.FilterMessage("engine 26.7 loaded").FilterLevelExact(zapcore.InfoLevel).Len())
}

func joined(l *lab) (all string) {
	for _, entry := range l.logs.All() {
		all += entry.Message + "\n"
	}
	return all
}
