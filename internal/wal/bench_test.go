package wal

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	benchRows  = 1000
	benchBytes = 54 * benchRows
)

// cpu is this process' CPU time so far, kernel included.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func reportRows(b *testing.B, used time.Duration) {
	rows := float64(b.N) * benchRows
	b.ReportMetric(rows/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(used.Nanoseconds())/rows, "cpu-ns/row")
}

// drain takes and finishes every range until ctx ends.
func drain(ctx context.Context, l *Log, read bool) {
	for {
		r, err := l.Next(ctx)
		if err != nil {
			return
		}
		if read {
			_, _ = l.Read(r, func([]byte, int) error { return nil })
		}
		l.Done(r)
	}
}

// BenchmarkAppend is the acknowledged rate with as many callers. With "read"
// every range is read back as well, so cpu-ns/row is the log's whole cost.
func BenchmarkAppend(b *testing.B) {
	for _, callers := range []int{1, 8, 64} {
		for _, read := range []bool{false, true} {
			b.Run(fmt.Sprintf("callers=%d/read=%t", callers, read), func(b *testing.B) {
				l := open(b, Options{Dir: benchDir(b)})
				ctx, cancel := context.WithCancel(b.Context())
				defer cancel()
				var wg sync.WaitGroup
				wg.Go(func() { drain(ctx, l, read) })
				payload := numbered(7, benchBytes)
				b.SetBytes(benchBytes)
				b.ReportAllocs()
				b.ResetTimer()
				before := cpu(b)
				var left atomic.Int64
				left.Store(int64(b.N))
				var appenders sync.WaitGroup
				for range callers {
					appenders.Go(func() {
						for left.Add(-1) >= 0 {
							if err := l.Append(ctx, payload, benchRows); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				appenders.Wait()
				b.StopTimer()
				reportRows(b, cpu(b)-before)
				cancel()
				wg.Wait()
			})
		}
	}
}

func BenchmarkRead(b *testing.B) {
	l := open(b, Options{Dir: benchDir(b)})
	payload := numbered(7, benchBytes)
	for range 50 {
		require.NoError(b, l.Append(b.Context(), payload, benchRows))
	}
	r := take(b, l)
	b.SetBytes(r.span.end - r.span.start)
	b.ReportAllocs()
	b.ResetTimer()
	before := cpu(b)
	for range b.N {
		damaged, err := l.Read(r, func([]byte, int) error { return nil })
		if err != nil || damaged != 0 {
			b.Fatal(damaged, err)
		}
	}
	b.ReportMetric(float64((cpu(b)-before).Nanoseconds())/float64(b.N*r.Rows), "cpu-ns/row")
}

// BenchmarkOpenBacklog opens 1 GiB of undone ranges and takes the first.
func BenchmarkOpenBacklog(b *testing.B) {
	dir := benchDir(b)
	l, err := Open(Options{Dir: dir})
	require.NoError(b, err)
	payload := numbered(7, benchBytes)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range (1 << 30) / benchBytes / 8 {
				if err := l.Append(b.Context(), payload, benchRows); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	rows := l.Stats().Rows
	require.NoError(b, l.Close())
	b.ResetTimer()
	for range b.N {
		l, err := Open(Options{Dir: dir})
		require.NoError(b, err)
		r := take(b, l)
		b.StopTimer()
		require.Equal(b, rows, l.Stats().RecoveredRows)
		require.Len(b, ids(b, l, r), r.Rows/benchRows)
		require.NoError(b, l.Close())
		b.StartTimer()
	}
}

// benchDir is on the disk named by WAL_BENCH_DIR, since a temporary folder is
// in memory on some machines.
func benchDir(b *testing.B) string {
	dir, err := os.MkdirTemp(os.Getenv("WAL_BENCH_DIR"), "wal"+strconv.Itoa(os.Getpid()))
	require.NoError(b, err)
	b.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
