package wal

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// lockDir makes the directory and takes the lock that keeps others out. The
// lock is on the directory itself: a full disk has no room for a lock file.
func lockDir(path string) (*os.File, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("make log directory: %w", err)
	}
	dir, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open log directory: %w", err)
	}
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		dir.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("log directory %s is in use by another log, in this process or another", path)
		}
		return nil, fmt.Errorf("lock log directory %s: %w", path, err)
	}
	return dir, nil
}

// makeSubdir is for the folder of damaged segments.
func makeSubdir(dir, name string) (string, error) {
	path := filepath.Join(dir, name)
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return path, nil
}

// errTakenAway: somebody moved or removed the log's folder, or a segment, or mounted something over it. What is written to
// the open files then would not be found at the next start.
var errTakenAway = errors.New("is not there any more, or is another one")

// inPlace reports errTakenAway if path does not lead to the open file.
func inPlace(path string, file *os.File) error {
	var open, named unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &open); err != nil {
		return os.NewSyscallError("fstat", err)
	}
	err := unix.Stat(path, &named)
	switch {
	case errors.Is(err, unix.ENOENT) || err == nil && (open.Dev != named.Dev || open.Ino != named.Ino):
		return fmt.Errorf("%s %w", path, errTakenAway)
	case err != nil:
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return nil
}

// elsewhere says that the folder exists, but not at its path.
func (l *Log) elsewhere() bool {
	var open unix.Stat_t
	return inPlace(l.opts.Dir, l.dir) != nil && unix.Fstat(int(l.dir.Fd()), &open) == nil && open.Nlink > 0
}

// fdatasync makes the file's bytes and size durable.
func fdatasync(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}

func isSpace(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG)
}

func isIO(err error) bool { return errors.Is(err, unix.EIO) }

// asFull marks errors that mean "no room", whatever the system calls them.
func asFull(err error) error {
	if isSpace(err) {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return fmt.Errorf("write-ahead log: %w", err)
}

// space is the file system's free room, asked for now and then, and in between
// lessened by what the log itself writes.
type space struct {
	bytes int64
	asked time.Time
}

const spaceAge = 250 * time.Millisecond

func (s *space) free(dir *os.File, now time.Time) int64 {
	if now.Sub(s.asked) < spaceAge {
		return s.bytes
	}
	s.asked = now
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(dir.Fd()), &fs); err != nil {
		// Writing finds out for itself.
		s.bytes = math.MaxInt64 / 2
		return s.bytes
	}
	s.bytes = int64(min(fs.Bavail, math.MaxInt64/2/uint64(fs.Bsize)) * uint64(fs.Bsize))
	return s.bytes
}
