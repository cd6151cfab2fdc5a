package embeddedclickhouseextension

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"
)

// outputGrace bounds the wait for the helper's output after its end, should a process of its own hold the pipe open.
const outputGrace = 2 * time.Second

// child is one run of the helper program.
type child struct {
	cmd   *exec.Cmd
	stdin io.Closer
	lines *lineWriter
	gone  chan struct{} // closed when the process has ended and its output was read
}

// startChild starts the helper; it is killed when patience ends.
func startChild(patience context.Context, program string, args []string, lines *lineWriter) (*child, error) {
	cmd := exec.CommandContext(patience, program, args...)
	cmd.Stdout, cmd.Stderr = lines, lines // one writer for both: exec then writes from one goroutine
	cmd.WaitDelay = outputGrace
	// A group of its own: a terminal's Ctrl-C goes to the whole group and must not end the engine before the pipelines.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, stdin: stdin, lines: lines, gone: make(chan struct{})}
	go func() {
		defer close(c.gone)
		_ = cmd.Wait() // ProcessState says it all
		lines.flush()
	}()
	return c, nil
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// stop asks the helper to end and kills it after timeout. It returns when the process is gone.
func (c *child) stop(timeout time.Duration) (killed bool) {
	_ = c.stdin.Close()
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // an error means that it has ended
	select {
	case <-c.gone:
	case <-time.After(timeout):
		_ = c.cmd.Process.Kill()
		<-c.gone
	}
	return c.killed()
}

// killed says whether SIGKILL ended the helper. Only after gone is closed.
func (c *child) killed() bool {
	status, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// exit tells the exit code, -1 for a signal or a crash, and in words how the helper ended. Only after gone is closed.
func (c *child) exit() (code int, err error) {
	state := c.cmd.ProcessState
	code = state.ExitCode()
	if c.lines.crashed {
		code = -1
	}
	if c.lines.reason != "" && !c.killed() { // SIGKILL leaves no last words
		return code, fmt.Errorf("%s ended: %s: %s", helperName, state, c.lines.reason)
	}
	return code, fmt.Errorf("%s ended: %s", helperName, state)
}
