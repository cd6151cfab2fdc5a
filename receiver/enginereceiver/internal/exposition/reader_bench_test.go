package exposition_test

import (
	"testing"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/exposition"
	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/expositiontest"
)

func BenchmarkReader(b *testing.B) {
	body := expositiontest.VLLM(24, 1)
	f := func(name string, each func(*exposition.Reader)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			samples := 0
			for b.Loop() {
				samples = 0
				for r := exposition.NewReader(body, plain, exposition.DefaultLimits()); r.Next(); samples++ {
					each(r)
				}
			}
			b.ReportMetric(float64(samples), "samples")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(samples), "ns/sample")
		})
	}
	f("series", func(*exposition.Reader) {})
	var labels []exposition.Label
	f("labels", func(r *exposition.Reader) { labels = r.Labels(labels[:0]) })
}
