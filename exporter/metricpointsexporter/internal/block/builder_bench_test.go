package block_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/block"
	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/points"
	"github.com/pitwall-otel/pitwall/schema"
)

// trainingRequests resembles what trainers send: one request per rank and step with 200 gauges, of which 60 % carry one
// or two attributes of their own.
func trainingRequests(requests int) []pmetric.Metrics {
	random := rand.New(rand.NewPCG(1, 2))
	all := make([]pmetric.Metrics, requests)
	now := time.Now().Add(-time.Minute)
	for r := range all {
		all[r] = pmetric.NewMetrics()
		for half := range 5 {
			rank := (r*5 + half) % 64
			rm := all[r].ResourceMetrics().AppendEmpty()
			rm.Resource().Attributes().PutStr("rl.run.id", fmt.Sprintf("run-%02d", r%50))
			rm.Resource().Attributes().PutStr("host.name", fmt.Sprintf("node-%d", rank/8))
			rm.Resource().Attributes().PutInt("rl.rank.global", int64(rank))
			rm.Resource().Attributes().PutStr("service.name", "trainer")
			sm := rm.ScopeMetrics().AppendEmpty()
			for m := range 200 {
				metric := sm.Metrics().AppendEmpty()
				metric.SetName(fmt.Sprintf("train/layer_%02d/norm_%d", m/4, m%4))
				metric.SetUnit("1")
				dp := metric.SetEmptyGauge().DataPoints().AppendEmpty()
				dp.SetTimestamp(pcommon.NewTimestampFromTime(now.Add(time.Duration(r) * time.Millisecond)))
				dp.SetDoubleValue(random.NormFloat64())
				dp.Attributes().PutInt("rl.step", int64(1000+r/50))
				if m%5 > 1 {
					dp.Attributes().PutStr("layer", fmt.Sprintf("decoder.%d", m/4))
				}
				if m%5 > 3 {
					dp.Attributes().PutBool("clipped", m%2 == 0)
				}
			}
		}
	}
	return all
}

func settings(tb testing.TB) points.Settings {
	registry, err := schema.Load()
	if err != nil {
		tb.Fatal(err)
	}
	return points.Settings{
		Registry: registry, ResourceTags: []string{"service.name", "rl.role"}, TimePolicy: points.TimeKeep,
		MaxNameBytes: 1 << 10, MaxAttributeBytes: 16 << 10, MaxTagsBytes: 64 << 10,
	}
}

func BenchmarkEncodeRequest(b *testing.B) {
	requests := trainingRequests(50)
	encoder := points.NewEncoder(settings(b))
	var payload []byte
	bytes := 0
	for i := range requests { // what a running collector has long done
		payload, _ = encoder.Encode(payload[:0], requests[i], points.Request{}, time.Now())
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		payload, _ = encoder.Encode(payload[:0], requests[i%50], points.Request{}, time.Now())
		bytes += len(payload)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/point")
	b.ReportMetric(float64(bytes)/float64(b.N)/1000, "B/point")
}

func BenchmarkBuildBlock(b *testing.B) {
	encoder := points.NewEncoder(settings(b))
	var payloads [][]byte
	for _, request := range trainingRequests(50) {
		payload, _ := encoder.Encode(nil, request, points.Request{}, time.Now())
		payloads = append(payloads, append([]byte(nil), payload...))
	}
	build := func(b *testing.B, builder *block.Builder) [][]uint32 {
		builder.Reset()
		for _, payload := range payloads {
			if err := builder.Add(payload); err != nil {
				b.Fatal(err)
			}
		}
		return builder.Sort()
	}
	var builder block.Builder
	perPoint := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/50_000, "ns/point")
	}
	b.Run("add and sort", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			build(b, &builder)
		}
		perPoint(b)
	})
	b.Run("encode", func(b *testing.B) {
		rows := build(b, &builder)[0]
		b.ReportAllocs()
		for range b.N {
			if err := builder.Encode(rows, func([]byte) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
		perPoint(b)
	})
	for _, compression := range []block.Compression{block.LZ4, block.ZSTD} {
		b.Run(string(compression), func(b *testing.B) {
			data := encoded(b, &builder, build(b, &builder)[0])
			compressor, err := block.NewCompressor(compression)
			if err != nil {
				b.Fatal(err)
			}
			var framed []byte
			b.ReportAllocs()
			for range b.N {
				framed = framed[:0]
				for piece := range slices.Chunk(data, 1<<20) {
					if framed, err = compressor.Append(framed, piece); err != nil {
						b.Fatal(err)
					}
				}
			}
			perPoint(b)
			b.ReportMetric(float64(len(framed))/50_000, "B/point")
		})
	}
}
