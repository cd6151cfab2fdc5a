package embeddedclickhouseextension

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zapcore"
)

func TestStartReturnsWhenTheEngineAnswers(t *testing.T) {
	l := newLab(t, "serve")
	l.start()
	require.NoError(t, l.ext.pinger.ping(t.Context()))
	l.waitStatus("StatusOK")
}

func TestASlowEngineDoesNotFailTheCollector(t *testing.T) {
	l := newLab(t, "late")
	l.cfg.StartTimeout = 30 * time.Millisecond
	l.start()
	l.waitStatus("StatusRecoverableError: no answer from http://" + l.cfg.ListenAddress + "/ping within start_timeout (30ms)")

	require.NoError(t, os.WriteFile(filepath.Join(l.cfg.DataDirectory, "go"), []byte("go"), 0o600))
	l.waitStatus("StatusRecoverableError", "StatusOK")
	assert.Len(t, l.runs(), 1, "a slow helper must not be started again")
}

func TestAnEngineThatNeverAnswersCanBeStopped(t *testing.T) {
	l := newLab(t, "silent")
	l.cfg.StartTimeout = time.Second // the run must have been noted by then
	l.start()
	l.stop()
	require.Len(t, l.runs(), 1)
	assert.True(t, processGone(l.runs()[0].PID))
	assert.Equal(t, 1, l.cleanStops())
}

func TestStartTellsTheReasonWhenTheEngineKeepsDying(t *testing.T) {
	l := newLab(t, "exit 1 no space left")
	l.cfg.StartTimeout = 500 * time.Millisecond
	l.start()
	statuses := l.host.all()
	require.NotEmpty(t, statuses)
	for _, status := range statuses {
		assert.Equal(t, "StatusRecoverableError: pitwall-clickhouse ended: exit status 1: no space left", status)
	}
}

func TestStartFailsWhenTheHelperRefusesItsConfiguration(t *testing.T) {
	l := newLab(t, "exit 2 pitwall-clickhouse: --library: no libchdb.so")
	err := l.ext.Start(t.Context(), l.host)
	require.EqualError(t, err,
		"the embedded ClickHouse cannot start: pitwall-clickhouse ended: exit status 2: --library: no libchdb.so")
	assert.Empty(t, l.host.all(), "the collector reports the failed start itself")
	assert.Len(t, l.runs(), 1)
}

func TestStartFailsForFilesThatAreNotThere(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(cfg *Config, absent string)
		want   string
	}{
		{"helper", func(cfg *Config, absent string) { cfg.HelperPath = absent }, "helper_path: no program pitwall-clickhouse: "},
		{"default helper", func(cfg *Config, _ string) { cfg.HelperPath = "" }, "helper_path: no program pitwall-clickhouse: "},
		{"helper not executable", func(cfg *Config, _ string) { cfg.HelperPath = "metadata.yaml" }, "helper_path: "},
		{"library", func(cfg *Config, absent string) { cfg.LibraryPath = absent }, "library_path: "},
		{"certificate", func(cfg *Config, absent string) {
			cfg.TLS.CertFile, cfg.TLS.KeyFile = absent, "metadata.yaml"
		}, "absent: no such file"},
		{"no certificate", func(cfg *Config, _ string) {
			cfg.TLS.CertFile, cfg.TLS.KeyFile = "metadata.yaml", "metadata.yaml"
		}, "tls: metadata.yaml and metadata.yaml: tls: failed to find any PEM data"},
		{"password file is a directory", func(cfg *Config, _ string) { cfg.PasswordFile = cfg.DataDirectory }, "password_file: "},
		{"password file under a file", func(cfg *Config, _ string) { cfg.PasswordFile = "metadata.yaml/password" }, "password_file: "},
		{"reader's password file", func(cfg *Config, _ string) {
			cfg.Reader.User, cfg.Reader.PasswordFile = "reader", cfg.DataDirectory
		}, "reader::password_file: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLab(t, "serve")
			tt.change(l.cfg, filepath.Join(t.TempDir(), "absent"))
			require.ErrorContains(t, l.ext.Start(t.Context(), l.host), tt.want)
			assert.Empty(t, l.runs())
		})
	}
}

func TestAnotherListenerDoesNotPassForTheEngine(t *testing.T) {
	l := newLab(t, "serve")
	other, err := net.Listen("tcp", l.cfg.ListenAddress)
	require.NoError(t, err)
	defer other.Close()
	l.cfg.StartTimeout = 50 * time.Millisecond
	l.start()
	require.Contains(t, l.host.all()[0], "StatusRecoverableError: listen_address: listen tcp "+l.cfg.ListenAddress)
	assert.Empty(t, l.runs())

	require.NoError(t, other.Close())
	require.Eventually(t, func() bool {
		statuses := l.host.all()
		return statuses[len(statuses)-1] == "StatusOK"
	}, soon, tick)
}

func TestStartGivesUpWithItsContext(t *testing.T) {
	l := newLab(t, "silent")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, l.ext.Start(ctx, l.host), context.Canceled)
}

func TestStartStopStart(t *testing.T) {
	l := newLab(t, "serve")
	for range 3 {
		l.start()
		require.NoError(t, l.ext.pinger.ping(t.Context()))
		l.stop()
		l.stop() // a second one is harmless
		require.Error(t, l.ext.pinger.ping(t.Context()))
	}
	assert.Len(t, l.runs(), 3)
	assert.Equal(t, 3, l.cleanStops())
	assert.Empty(t, l.lines(zapcore.WarnLevel))
}

func TestListeningBeyondLoopbackWithoutTLSIsSaid(t *testing.T) {
	l := newLab(t, "serve")
	_, port, err := net.SplitHostPort(l.cfg.ListenAddress)
	require.NoError(t, err)
	l.cfg.ListenAddress = "0.0.0.0:" + port
	l.cfg.Password = "secret"
	l.ext.pinger = newPinger(l.cfg)
	l.start()
	l.waitStatus("StatusOK")
	assert.Len(t, l.lines(zapcore.WarnLevel), 1)
}
