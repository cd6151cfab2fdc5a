package exposition_test

import (
	"testing"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/exposition"
	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/expositiontest"
)

func BenchmarkReader(b *testing.B) {
	body := expositiontest.VLLM(24, 1)
	memory := exposition.NewMemory()
	var known []exposition.Known
	for r := exposition.NewReader(body, plain, exposition.DefaultLimits()); r.Next(); {
		s := r.Sample()
		known = append(known, exposition.Known{Hash: memory.Hash(s.Series), Bytes: len(s.Series), Type: s.Type, Part: s.Part})
	}
	f := func(name string, memory *exposition.Memory, each func(*exposition.Reader)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			samples := 0
			for b.Loop() {
				samples = 0
				r := exposition.NewReader(body, plain, exposition.DefaultLimits())
				if memory != nil {
					r.Follow(memory, func() exposition.Known { return known[samples] })
				}
				for ; r.Next(); samples++ {
					each(r)
				}
			}
			b.ReportMetric(float64(samples), "samples")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(samples), "ns/sample")
		})
	}
	f("series", nil, func(*exposition.Reader) {})
	f("followed", &memory, func(*exposition.Reader) {})
	var labels []exposition.Label
	f("labels", nil, func(r *exposition.Reader) { labels = r.Labels(labels[:0]) })
}
