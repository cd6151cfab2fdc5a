package schemaprocessor

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// What a fuzzed request is tried with: everything is judged, and some of everything is left out.
const harsh = "unknown_name=quarantine bad_name=reject unit=coerce instrument=quarantine attribute_unknown=quarantine " +
	"attribute_missing=quarantine attribute_type=coerce attribute_value=reject identity_missing=reject version_unknown=quarantine"

// Whatever arrives, each point goes out once, or is counted as rejected: as it should be, or set apart.
func FuzzMetrics(f *testing.F) {
	var marshaler pmetric.ProtoMarshaler
	add := func(md pmetric.Metrics) {
		text, err := marshaler.MarshalMetrics(md)
		require.NoError(f, err)
		f.Add(text)
	}
	files, err := filepath.Glob(filepath.Join("testdata", "producers", "*.yaml"))
	require.NoError(f, err)
	for _, file := range files {
		add(readFixture(f, file).request())
	}
	add(exponential("ms", "rl.phase.duration", -3))
	add(gauge("sglang", "", "%", 1, "rl.step", "x", "step", 1, "rl.step", []any{1}))
	version := gauge("verl", "rl.reward", "1", 1)
	version.ResourceMetrics().At(0).SetSchemaUrl("https://pitwall-otel.github.io/schemas/7.0.0")
	add(version)

	r := shipped(f)
	lenient := newTest(f, r, metricsSignal, nil)
	strict := newTest(f, r, metricsSignal, func(c *Config) {
		only(f, harsh)(c)
		c.RequiredIdentity = []string{"rl.run.id"}
		c.CacheSize = 4
	})
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, p := range []*schemaProcessor{lenient, strict} {
			var unmarshaler pmetric.ProtoUnmarshaler
			md, err := unmarshaler.UnmarshalMetrics(text)
			if err != nil {
				return
			}
			in, before := number(md), p.rejected()
			got, _ := p.processMetrics(t.Context(), md)
			rejected := int(p.rejected() - before)
			require.Equal(t, in, got.DataPointCount()+rejected)
			require.Len(t, numbers(got), got.DataPointCount(), "a point came twice")
			if p == lenient {
				require.Zero(t, rejected)
			}
		}
	})
}

// number gives every point another time, and numbers are the times.
func number(md pmetric.Metrics) int {
	n := 0
	stamps(md, func(p stamped) {
		n++
		p.SetTimestamp(pcommon.Timestamp(n))
	})
	return n
}

func numbers(md pmetric.Metrics) map[pcommon.Timestamp]bool {
	all := map[pcommon.Timestamp]bool{}
	stamps(md, func(p stamped) { all[p.Timestamp()] = true })
	return all
}

type stamped interface {
	Timestamp() pcommon.Timestamp
	SetTimestamp(pcommon.Timestamp)
}

func stamps(md pmetric.Metrics, do func(stamped)) {
	for _, rm := range md.ResourceMetrics().All() {
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				switch m.Type() {
				case pmetric.MetricTypeGauge:
					each(gaugePoints(m), do)
				case pmetric.MetricTypeSum:
					each(sumPoints(m), do)
				case pmetric.MetricTypeHistogram:
					each(histogramPoints(m), do)
				case pmetric.MetricTypeExponentialHistogram:
					each(exponentialPoints(m), do)
				case pmetric.MetricTypeSummary:
					each(summaryPoints(m), do)
				default:
				}
			}
		}
	}
}

func each[P stamped, S interface {
	Len() int
	At(int) P
}](all S, do func(stamped)) {
	for i := range all.Len() {
		do(all.At(i))
	}
}

func (p *schemaProcessor) rejected() uint64 {
	var n uint64
	for i := range p.ledger.places {
		if c := p.ledger.places[i].Load(); c != nil {
			n += c.rejected.Load()
		}
	}
	return n
}

func FuzzTraces(f *testing.F) {
	var marshaler ptrace.ProtoMarshaler
	for _, td := range []ptrace.Traces{span("verl", "gen", "step", "7"), span("", "", "rl.step", "x")} {
		text, err := marshaler.MarshalTraces(td)
		require.NoError(f, err)
		f.Add(text)
	}
	p := newTest(f, shipped(f), tracesSignal, only(f, harsh))
	f.Fuzz(func(t *testing.T, text []byte) {
		var unmarshaler ptrace.ProtoUnmarshaler
		td, err := unmarshaler.UnmarshalTraces(text)
		if err != nil {
			return
		}
		in, before := td.SpanCount(), p.rejected()
		got, _ := p.processTraces(t.Context(), td)
		require.Equal(t, in, got.SpanCount()+int(p.rejected()-before))
	})
}

func FuzzLogs(f *testing.F) {
	var marshaler plog.ProtoMarshaler
	for _, ld := range []plog.Logs{record("verl", "rl.sample", "step", "7"), record("", "", "event.name", "x", "rank", "r")} {
		text, err := marshaler.MarshalLogs(ld)
		require.NoError(f, err)
		f.Add(text)
	}
	p := newTest(f, shipped(f), logsSignal, only(f, harsh))
	f.Fuzz(func(t *testing.T, text []byte) {
		var unmarshaler plog.ProtoUnmarshaler
		ld, err := unmarshaler.UnmarshalLogs(text)
		if err != nil {
			return
		}
		in, before := ld.LogRecordCount(), p.rejected()
		got, _ := p.processLogs(t.Context(), ld)
		require.Equal(t, in, got.LogRecordCount()+int(p.rejected()-before))
	})
}

// A pattern without "*" is itself, and one that is all "*" is anything.
func FuzzGlob(f *testing.F) {
	f.Add("a*b", "axb")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		require.True(t, glob("*", text))
		if glob(pattern, text) {
			require.True(t, glob("*"+pattern, text) && glob(pattern+"*", text))
		}
	})
}
