package engine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// lockName is the file in the data directory that its owner holds locked. It
// carries the owner's process id, for the message to the second one.
const lockName = "pitwall-clickhouse.lock"

// InUseError says that another process owns the data directory.
type InUseError struct {
	Dir string
	PID int // 0 when the owner has not written it
}

func (e *InUseError) Error() string {
	return fmt.Sprintf("data directory %s is in use by another pitwall-clickhouse (pid %d)", e.Dir, e.PID)
}

// lock takes the directory until the returned file is closed. The file stays: to
// remove it would let a third process lock a new one while a second holds the old.
func lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			text, _ := io.ReadAll(io.LimitReader(f, 32))
			pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
			return nil, &InUseError{Dir: dir, PID: pid}
		}
		return nil, fmt.Errorf("lock data directory %s: %w", dir, err)
	}
	if err := f.Truncate(0); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	if _, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	return f, nil
}
