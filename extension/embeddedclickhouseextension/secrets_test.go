package embeddedclickhouseextension

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAMissingPasswordIsMadeOnce(t *testing.T) {
	l := newLab(t, "serve")
	l.cfg.Reader.User = "viewer"
	l.start()
	l.stop()
	l.start()

	for file, read := range map[string]func(fakeRun) string{
		l.cfg.DataDirectory + ".password":        func(r fakeRun) string { return r.Password },
		l.cfg.DataDirectory + ".reader-password": func(r fakeRun) string { return r.ReaderPassword },
	} {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		random, err := base64.RawURLEncoding.DecodeString(string(content))
		require.NoError(t, err)
		assert.Len(t, random, 32)
		info, err := os.Stat(file)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode())
		require.Len(t, l.runs(), 2)
		assert.Equal(t, string(content), read(l.runs()[0]))
		assert.Equal(t, string(content), read(l.runs()[1]), "the second start must find the first one's password")
		assert.NotContains(t, joined(l), string(content))
	}
	assert.NotEqual(t, l.runs()[0].Password, l.runs()[0].ReaderPassword)
}

func TestAnExistingPasswordFileIsUsedAsItIs(t *testing.T) {
	l := newLab(t, "serve")
	l.cfg.PasswordFile = filepath.Join(t.TempDir(), "mine")
	require.NoError(t, os.WriteFile(l.cfg.PasswordFile, []byte("hunter2\n"), 0o640))
	l.start()
	assert.Equal(t, l.cfg.PasswordFile, l.runs()[0].PasswordFile)
	assert.Equal(t, "hunter2\n", readIfAny(l.cfg.PasswordFile))
	assert.NoFileExists(t, l.cfg.DataDirectory+".password")
}

func TestAnEmptyPasswordFileIsRefused(t *testing.T) {
	l := newLab(t, "serve")
	l.cfg.PasswordFile = filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(l.cfg.PasswordFile, []byte("\n"), 0o600))
	require.ErrorContains(t, l.ext.Start(t.Context(), l.host), "password_file: "+l.cfg.PasswordFile+" is empty")
}

func TestAnInlinePasswordReachesOnlyTheHelper(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	l := newLab(t, "serve")
	l.cfg.Password = "correct horse"
	l.cfg.Reader.User, l.cfg.Reader.Password = "viewer", "battery staple"
	l.start()

	run := l.runs()[0]
	assert.Equal(t, "correct horse", run.Password)
	assert.Equal(t, "battery staple", run.ReaderPassword)
	assert.Equal(t, "-rw-------", run.PasswordMode)
	for _, secret := range []string{"correct horse", "battery staple"} {
		assert.NotContains(t, strings.Join(run.Args, " "), secret)
		assert.NotContains(t, strings.Join(run.Env, " "), secret)
		assert.NotContains(t, joined(l), secret)
	}
	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	assert.Empty(t, left, "the files must be gone once the helper answers")
	assert.NoFileExists(t, l.cfg.DataDirectory+".password")

	l.crash("1", "again")
	l.waitStatus("StatusOK", "StatusRecoverableError", "StatusOK")
	assert.Equal(t, "correct horse", l.runs()[1].Password, "each start needs the file anew")
}

func TestAnInlinePasswordIsRemovedWhenTheHelperDoesNotStart(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	l := newLab(t, "exit 2 no")
	l.cfg.Password = "correct horse"
	require.Error(t, l.ext.Start(t.Context(), l.host))
	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestArguments(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	assert.Equal(t, []string{
		"--data-dir=data/clickhouse", "--listen=127.0.0.1:8123", "--max-memory=2147483648", "--user=default",
		"--password-file=p", "--stop-on-stdin-close",
	}, arguments(cfg, "p", ""))

	cfg.Reader.User = "viewer"
	cfg.TLS = tlsConfig{CertFile: "c.pem", KeyFile: "k.pem"}
	cfg.LibraryPath = "lib.so"
	assert.Equal(t, []string{
		"--reader-user=viewer", "--reader-password-file=r", "--tls-cert=c.pem", "--tls-key=k.pem", "--library=lib.so",
	}, arguments(cfg, "p", "r")[6:])
}

// The default helper stands beside the collector's executable.
func TestDefaultHelper(t *testing.T) {
	_, err := findHelper("")
	require.ErrorContains(t, err, regexp.MustCompile(`[^/]+$`).ReplaceAllString(os.Args[0], helperName))
}
