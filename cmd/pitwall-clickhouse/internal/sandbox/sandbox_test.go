package sandbox

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// confined runs f on a thread of its own, which ends with it.
func confined(paths Paths, f func()) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread is not used again
		err := Confine(paths)
		if err == nil {
			f()
		}
		result <- err
	}()
	return <-result
}

func TestConfine(t *testing.T) {
	open, closed := t.TempDir(), t.TempDir()
	for _, dir := range []string{open, closed} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte("x"), 0o600))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	try := func(path string, flags int) error {
		fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0o600)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}
	err = confined(Paths{Write: []string{open}, Read: []string{"/usr", filepath.Join(closed, "b"), "/nowhere"}}, func() {
		assert.NoError(t, try(filepath.Join(open, "a"), unix.O_RDWR|unix.O_TRUNC))
		assert.NoError(t, try(filepath.Join(open, "new"), unix.O_CREAT|unix.O_WRONLY))
		assert.NoError(t, unix.Mkdir(filepath.Join(open, "dir"), 0o700))
		assert.NoError(t, unix.Rename(filepath.Join(open, "new"), filepath.Join(open, "dir", "new")))
		assert.NoError(t, try("/usr", unix.O_RDONLY|unix.O_DIRECTORY))
		assert.Equal(t, unix.EACCES, try(filepath.Join(closed, "a"), unix.O_RDONLY))
		assert.Equal(t, unix.EACCES, try(filepath.Join(closed, "b"), unix.O_CREAT|unix.O_WRONLY))
		assert.Equal(t, unix.EACCES, try("/proc/self/environ", unix.O_RDONLY))
		assert.Equal(t, unix.EACCES, unix.Rename(filepath.Join(open, "a"), filepath.Join(closed, "stolen")))
		if version() < 4 {
			t.Log("this kernel's Landlock does not know connections: not tested")
			return
		}
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		assert.NoError(t, err)
		defer unix.Close(fd)
		assert.Equal(t, unix.EACCES, unix.Connect(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}))
	})
	_, statErr := os.Stat(filepath.Join(closed, "a"))
	assert.NoError(t, statErr, "other threads are as free as before")
	if errors.Is(err, ErrUnsupported) {
		t.Log("NOT TESTED: this kernel has no Landlock, so only that it is said and that nothing is confined halfway")
		return
	}
	require.NoError(t, err)
	assert.ErrorIs(t, confined(Paths{Write: []string{filepath.Join(open, "gone")}}, func() {}), unix.ENOENT)
}
