package sandbox

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Paths are what a confined process may open.
type Paths struct {
	Write []string // directories and all below: everything
	Read  []string // files, or directories and all below; absent ones do not count
}

// ErrUnsupported means that the kernel (Linux before 5.19, or one without
// Landlock) or a container's rules do not allow a process to confine itself.
var ErrUnsupported = errors.New("landlock is not available on this machine")

const (
	readRights = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_EXECUTE
	fileRights = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// Confine restricts the calling thread, for good, and what it starts or becomes.
// The caller has locked its goroutine to the thread.
func Confine(paths Paths) error {
	abi := version()
	// The first version forbids every rename from one directory to another, and the
	// engine cannot work without.
	if abi < 2 {
		return ErrUnsupported
	}
	attr := rights(abi)
	rules, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("create landlock rules: %w", errno)
	}
	defer unix.Close(int(rules))
	for _, path := range paths.Write {
		if err := allow(int(rules), path, attr.Access_fs); err != nil {
			return err
		}
	}
	for _, path := range paths.Read {
		if err := allow(int(rules), path, readRights); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, rules, 0, 0); errno != 0 {
		return fmt.Errorf("apply landlock rules: %w", errno)
	}
	return nil
}

// version is that of the kernel's Landlock, 0 for none.
func version() int {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(abi)
}

// rights are all that a kernel of this ABI can withhold: of files each right, of
// the network outgoing connections, and signals to processes outside.
func rights(abi int) unix.LandlockRulesetAttr {
	a := unix.LandlockRulesetAttr{Access_fs: unix.LANDLOCK_ACCESS_FS_REFER<<1 - 1}
	if abi >= 3 {
		a.Access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 4 {
		a.Access_net = unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if abi >= 5 {
		a.Access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= 6 {
		a.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return a
}

func allow(rules int, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("confine to %s: %w", path, err)
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return fmt.Errorf("confine to %s: %w", path, err)
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= fileRights
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("confine to %s: %w", path, errno)
	}
	return nil
}
