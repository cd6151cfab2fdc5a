package nvmlclient

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/internal/nvml/wire"
)

// helperName is the program that loads the library; it is built and installed beside the collector.
const helperName = "pitwall-nvml"

// exitAgain is the helper's exit code when it asks to be started again: only a new process can load the driver anew.
const exitAgain = 75

// outputGrace bounds the wait for the helper's log after its end, should a process of its own hold the pipe open.
const outputGrace = time.Second

// findHelper returns the helper program's path.
func findHelper(configured string) (string, error) {
	path := configured
	if path == "" {
		collector, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("cannot tell where the running executable is: %w", err)
		}
		path = filepath.Join(filepath.Dir(collector), helperName)
	}
	path, err := filepath.Abs(path) // without a slash it would be looked up in PATH
	if err != nil {
		return "", err
	}
	if _, err := exec.LookPath(path); err != nil {
		return "", fmt.Errorf("no program %s: %w", helperName, err)
	}
	return path, nil
}

// helper is one run of the helper program.
type helper struct {
	cmd   *exec.Cmd
	lines *lineWriter
	in    *os.File      // we write
	out   *os.File      // we read
	read  chan struct{} // closed when nothing is read any more
	gone  chan struct{} // closed when it has ended, and all it said was read

	mu       sync.Mutex
	greeted  bool
	exchange *exchange // the collection under way
	broken   error     // why the helper was killed: it does not speak as it should
}

// exchange is one request and what was answered so far.
type exchange struct {
	id      uint64
	header  *wire.Header
	answers map[int][]nvml.Device // by index of the GPU
	news    chan struct{}         // capacity 1: something came
}

// startHelper starts the program; what it reads and sends is passed to handle until it ends.
func startHelper(program string, args []string, log func(string), event func(nvml.Event)) (*helper, error) {
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, childIn.Close(), in.Close())
	}
	h := &helper{in: in, out: out, read: make(chan struct{}), gone: make(chan struct{}), lines: newLineWriter(log)}
	h.cmd = exec.CommandContext(context.Background(), program, args...) // stop ends it, in steps
	h.cmd.Stdin, h.cmd.Stdout, h.cmd.Stderr = childIn, childOut, h.lines
	h.cmd.WaitDelay = outputGrace
	// A group of its own: a terminal's Ctrl-C goes to the whole group, and the collector's end is ours to tell.
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = h.cmd.Start()
	_ = childIn.Close()
	_ = childOut.Close()
	if err != nil {
		_ = in.Close()
		_ = out.Close()
		return nil, err
	}
	go func() {
		defer close(h.read)
		h.receive(event)
	}()
	go func() {
		defer close(h.gone)
		_ = h.cmd.Wait() // ProcessState says it all
		h.lines.flush()
		_ = h.out.Close() // a process of the helper's could hold the other end
		<-h.read
		_ = h.in.Close()
	}()
	return h, nil
}

// receive takes what the helper sends until it ends, or kills it when that makes no sense.
func (h *helper) receive(event func(nvml.Event)) {
	var buf []byte
	for {
		kind, payload, grown, err := wire.Read(h.out, buf)
		if err == nil {
			buf = grown
			err = h.handle(kind, payload, event)
		} else if !errors.Is(err, wire.ErrTooLong) {
			return // its end
		}
		if err != nil {
			h.mu.Lock()
			h.broken = err
			h.mu.Unlock()
			_ = h.cmd.Process.Kill()
			return
		}
	}
}

func (h *helper) handle(kind wire.Kind, payload []byte, event func(nvml.Event)) error {
	switch kind {
	case wire.KindHello:
		hello, err := wire.ParseHello(payload)
		if err == nil && hello.Version != wire.Version {
			err = fmt.Errorf("it is of another version than the collector: speaks %d, not %d", hello.Version, wire.Version)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.greeted = err == nil
		return err
	case wire.KindHeader:
		header, err := wire.ParseHeader(payload)
		h.answered(header.ID, func(x *exchange) { x.header = &header })
		return err
	case wire.KindAnswer:
		answer, err := wire.ParseAnswer(payload)
		if err != nil {
			return err
		}
		h.answered(answer.ID, func(x *exchange) { x.answers[answer.Index] = answer.Devices })
		return nil
	case wire.KindEvent:
		e, err := wire.ParseEvent(payload)
		if err != nil {
			return err
		}
		event(e)
		return nil
	default:
		return fmt.Errorf("%w: of kind %d", wire.ErrMalformed, kind)
	}
}

// answered notes an answer, unless it is to a request that nobody waits for any more.
func (h *helper) answered(id uint64, note func(*exchange)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.exchange == nil || h.exchange.id != id {
		return
	}
	note(h.exchange)
	select {
	case h.exchange.news <- struct{}{}:
	default:
	}
}

// ready says whether the helper has said hello.
func (h *helper) ready() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.greeted
}

// stop asks the helper to end, kills it after a while, and returns an error when it is still there then.
func (h *helper) stop(p pace) error {
	_ = h.in.Close()
	select {
	case <-h.gone:
		return nil
	case <-time.After(p.stop):
	}
	_ = h.cmd.Process.Kill()
	select {
	case <-h.gone:
		return nil
	case <-time.After(p.kill):
		_ = h.out.Close()
		<-h.read
		return fmt.Errorf("%s (process %d) cannot be ended: it hangs in the driver", helperName, h.cmd.Process.Pid)
	}
}

// exit tells how the helper ended. Only after gone is closed.
func (h *helper) exit() end {
	state := h.cmd.ProcessState
	e := end{why: helperName + " ended: " + state.String(), again: state.ExitCode() == exitAgain}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.broken != nil:
		e.why = helperName + " was ended: " + h.broken.Error()
	case h.lines.last != "" && !state.Sys().(syscall.WaitStatus).Signaled(): // a signal leaves no last words
		e.why += ": " + h.lines.last
	}
	return e
}
