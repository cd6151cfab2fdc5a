package test

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// load is work whose size the test knows: one busy core, a stream over the loopback interface and a file written
// through to the disk.
type load struct {
	sent, written atomic.Int64
	file          string

	quit    chan struct{}
	stopped atomic.Bool // quit for spin, which waits for nothing
	turns   uint64
	work    sync.WaitGroup
}

const (
	loadChunk = 1 << 20
	// loadEvery paces stream and file: about 8 MiB per second each.
	loadEvery = 125 * time.Millisecond
)

func startLoad(t *testing.T) *load {
	t.Helper()
	l := &load{quit: make(chan struct{}), file: filepath.Join(t.TempDir(), "load")}

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	stream, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	sink, err := listener.Accept()
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	file, err := os.OpenFile(l.file, os.O_CREATE|os.O_WRONLY|os.O_SYNC, 0o600)
	require.NoError(t, err)

	l.work.Go(func() { _, _ = io.Copy(io.Discard, sink); _ = sink.Close() })
	l.work.Go(func() { l.pour(stream, &l.sent); _ = stream.Close() })
	l.work.Go(func() { l.pour(file, &l.written); _ = file.Close() })
	l.work.Go(l.spin)
	return l
}

func (l *load) stop() {
	l.stopped.Store(true)
	close(l.quit)
	l.work.Wait()
}

func (l *load) pour(to io.Writer, poured *atomic.Int64) {
	chunk := make([]byte, loadChunk)
	for ticker := time.NewTicker(loadEvery); ; {
		select {
		case <-l.quit:
			ticker.Stop()
			return
		case <-ticker.C:
			n, err := to.Write(chunk)
			poured.Add(int64(n))
			if err != nil {
				return
			}
		}
	}
}

func (l *load) spin() {
	for !l.stopped.Load() {
		l.turns++
	}
}

// read puts the work done so far beside the kernel's counters.
func (l *load) read(counters map[string]float64) {
	counters["load.sent"] = float64(l.sent.Load())
	counters["load.written"] = float64(l.written.Load())
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) == nil {
		counters["load.cpu_seconds"] = time.Duration(used.Utime.Nano() + used.Stime.Nano()).Seconds()
	}
}
