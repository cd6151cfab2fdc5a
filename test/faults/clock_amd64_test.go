package faults

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
)

// clock is the wall clock of one collector, which a test may set while the machine's goes on. It answers the system call
// by which the collector asks for the time of day: see filter. It needs no privileges. It needs
// this processor: on others a Go program makes no system call that hideVDSO could come before.
type clock struct {
	socket string
	offset atomic.Int64 // nanoseconds from the machine's clock
	asked  atomic.Int64 // how often the collector asked

	mu       sync.Mutex
	failures []error
}

// set steps the clock to so far from the machine's.
func (c *clock) set(offset time.Duration) { c.offset.Store(int64(offset)) }

// newClock runs before newRig, so that the collector ends before its clock does.
func newClock(t *testing.T) *clock {
	t.Helper()
	c := &clock{socket: filepath.Join(t.TempDir(), "clock")}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: c.socket})
	require.NoError(t, err)
	var work sync.WaitGroup
	work.Go(func() {
		for {
			connection, err := listener.AcceptUnix()
			if err != nil {
				return
			}
			work.Go(func() { c.failed(c.serve(connection)) })
		}
	})
	t.Cleanup(func() {
		require.NoError(t, listener.Close())
		work.Wait()
		assert.Empty(t, c.failures, "of the clock")
	})
	return c
}

// drives makes the collector go by this clock from its next start.
func (c *clock) drives(collector *collectortest.Collector) {
	self, err := os.Executable()
	c.failed(err)
	collector.Wrapper = []string{self}
	collector.Env = append(collector.Env, clockSocket+"="+c.socket)
}

func (c *clock) failed(err error) {
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.failures = append(c.failures, err)
	}
}

// serve answers one collector until it ends.
func (c *clock) serve(connection *net.UnixConn) error {
	listener, err := receive(connection)
	if err != nil {
		return err
	}
	defer unix.Close(listener)
	for {
		poll := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		switch _, err := unix.Poll(poll, -1); {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return fmt.Errorf("wait for a question: %w", err)
		case poll[0].Revents&unix.POLLIN == 0:
			return nil // the collector has ended
		}
		var q question
		if err := control(listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&q)); err != nil {
			if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINTR) {
				continue // killed while it asked
			}
			return fmt.Errorf("receive a question: %w", err)
		}
		reply := c.answer(&q)
		if err := control(listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&reply)); err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("answer a question: %w", err)
		}
	}
}

func (c *clock) answer(q *question) reply {
	a := reply{id: q.id}
	var err error
	if q.data.number == unix.SYS_ARCH_PRCTL {
		a.flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
		err = hideVDSO(int(q.pid))
	} else {
		c.asked.Add(1)
		now := time.Now().Add(time.Duration(c.offset.Load()))
		var timespec [16]byte
		binary.NativeEndian.PutUint64(timespec[:], uint64(now.Unix()))
		binary.NativeEndian.PutUint64(timespec[8:], uint64(now.Nanosecond()))
		_, err = unix.ProcessVMWritev(int(q.pid), []unix.Iovec{{Base: &timespec[0], Len: uint64(len(timespec))}},
			[]unix.RemoteIovec{{Base: uintptr(q.data.args[1]), Len: len(timespec)}}, 0)
	}
	if err != nil && !errors.Is(err, unix.ESRCH) && !errors.Is(err, os.ErrNotExist) {
		c.failed(err)
		a.err = -int32(unix.EPERM)
	}
	return a
}

// hideVDSO takes the address of the kernel's clock page out of what a process learns at its start, so that it asks the
// kernel for the time. The process has just begun: the Go runtime asks for its thread's storage before it looks there.
func hideVDSO(pid int) error {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return err
	}
	// Field 28 is where the stack starts; the name, field 2, may hold spaces. proc_pid_stat(5).
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var start int64
	if _, err := fmt.Sscan(fields[28-3], &start); err != nil {
		return err
	}
	memory, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer memory.Close()
	at := start
	next := func() (word uint64) {
		var b [8]byte
		if err == nil {
			_, err = memory.ReadAt(b[:], at)
		}
		at += int64(len(b))
		return binary.NativeEndian.Uint64(b[:])
	}
	arguments := next()
	at += int64(8 * (arguments + 1)) // and the NULL behind them
	for next() != 0 && err == nil {
		continue // the environment
	}
	const null, ignore, sysinfoEHDR = 0, 1, 33 // getauxval(3), <elf.h>
	for err == nil {
		switch kind := next(); kind {
		case null:
			return err
		case sysinfoEHDR:
			_, err = memory.WriteAt(binary.NativeEndian.AppendUint64(nil, ignore), at-8)
		}
		next()
	}
	return err
}

// question and reply are struct seccomp_notif and seccomp_notif_resp: seccomp_unotify(2).
type question struct {
	id         uint64
	pid, flags uint32
	data       struct {
		number  int32
		machine uint32
		pointer uint64
		args    [6]uint64
	}
}

type reply struct {
	id    uint64
	value int64
	err   int32
	flags uint32
}

func control(fd int, request uintptr, argument unsafe.Pointer) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(argument))
	if errno != 0 {
		return errno
	}
	return nil
}

// receive takes the listener that launch sends.
func receive(connection *net.UnixConn) (int, error) {
	defer connection.Close()
	rights := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := connection.ReadMsgUnix(make([]byte, 1), rights)
	if err != nil {
		return 0, fmt.Errorf("receive the listener: %w", err)
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) != 1 {
		return 0, fmt.Errorf("receive the listener: %d messages: %w", len(messages), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return 0, fmt.Errorf("receive the listener: %d descriptors: %w", len(fds), err)
	}
	return fds[0], nil
}

// clockSocket names the socket of the clock in the environment of a collector that gets one.
const clockSocket = "PITWALL_FAULTS_CLOCK"

// TestMain makes the test's own program the launcher of such a collector.
func TestMain(m *testing.M) {
	if socket := os.Getenv(clockSocket); socket != "" {
		fmt.Fprintln(os.Stderr, "start the collector with a clock of its own:", launch(socket, os.Args[1:]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// launch hands the clock the means to answer and becomes the collector.
func launch(socket string, command []string) error {
	runtime.LockOSThread() // the filter is this thread's
	connection, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	file, err := connection.(*net.UnixConn).File()
	if err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	rules := filter()
	program := unix.SockFprog{Len: uint16(len(rules)), Filter: &rules[0]}
	listener, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return fmt.Errorf("set a filter for system calls: %w", errno)
	}
	if err := unix.Sendmsg(int(file.Fd()), []byte{0}, unix.UnixRights(int(listener)), nil, 0); err != nil {
		return err
	}
	unix.CloseOnExec(int(listener))
	return syscall.Exec(command[0], command, os.Environ())
}

// filter asks the clock for two system calls: what time of day it is, and what the Go runtime begins with. All others pass.
// It is a program for the kernel's packet filter over struct seccomp_data: seccomp(2).
func filter() []unix.SockFilter {
	const (
		number, machine, firstArgument = 0, 4, 16
		setFS                          = 0x1002 // arch_prctl(2)
	)
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	equal := func(value uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: value, Jt: yes, Jf: no}
	}
	result := func(action uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
	}
	return []unix.SockFilter{
		load(machine),
		equal(unix.AUDIT_ARCH_X86_64, 0, 8), // otherwise to the end
		load(number),
		equal(unix.SYS_CLOCK_GETTIME, 1, 0),
		equal(unix.SYS_ARCH_PRCTL, 2, 5),
		load(firstArgument),
		equal(unix.CLOCK_REALTIME, 2, 3),
		load(firstArgument),
		equal(setFS, 0, 1),
		result(unix.SECCOMP_RET_USER_NOTIF),
		result(unix.SECCOMP_RET_ALLOW),
	}
}
