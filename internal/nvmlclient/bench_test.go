package nvmlclient

import (
	"context"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/pitwall-otel/pitwall/internal/fakenvml"
	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/internal/nvmltest"
)

// BenchmarkCollect is one collection of everything through the whole chain: 8 GPUs, 293 readings each. What the fake
// library itself takes is in it.
func BenchmarkCollect(b *testing.B) {
	for name, classes := range map[string]nvml.Class{
		"everything": nvml.AllClasses, "utilization": nvml.ClassUtilization, "nothing": 0,
	} {
		b.Run(name, func(b *testing.B) {
			path := b.TempDir() + "/script"
			if err := fakenvml.Write(path, nvmltest.Profile(b, "h100")); err != nil {
				b.Fatal(err)
			}
			b.Setenv(fakenvml.Variable, path)
			c := New(Options{HelperPath: nvmltest.Helper(b), LibraryPath: nvmltest.Library(b), Logger: zap.NewNop()})
			c.Start()
			defer func() { _ = c.Shutdown(context.Background()) }()
			first := eventually(b, c, status(nvml.StatusOK))
			own := ownCPU(b)
			last := first
			b.ReportAllocs()
			for b.Loop() {
				last = c.Collect(context.Background(), nvml.Request{Classes: classes, Deadline: time.Minute})
			}
			n := float64(b.N)
			b.ReportMetric(float64(ownCPU(b)-own)/n, "client-cpu-ns/op")
			b.ReportMetric(float64(last.Helper.CPU-first.Helper.CPU)/n, "helper-cpu-ns/op")
			b.ReportMetric(float64(last.Helper.RSS), "helper-rss-bytes")
			b.ReportMetric(float64(last.Helper.Wake-first.Helper.Wake)/n, "helper-switches/op")
		})
	}
}

func ownCPU(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
