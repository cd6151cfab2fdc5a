package schemaprocessor

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.yaml.in/yaml/v3"
)

// fixture is what a producer sends, and what must come of it. The files in testdata/producers were written by hand from the
// producers' code and documentation; nothing of ours made them.
type fixture struct {
	Scope           string
	Resource        map[string]any
	BecomesResource map[string]any `yaml:"becomes_resource"`
	// Every is on every point, and becomes Becomes.
	Every, Becomes map[string]any
	Metrics        []sent
}

type sent struct {
	Send, As, Wire string
	Value          float64
	With           map[string]any
	Bounds         []float64
	Counts         []uint64

	Want, Unit  string
	Gives       *float64
	GivesBounds []float64 `yaml:"gives_bounds"`
	And         map[string]any
	// Unknown says that the name passes as it came. Same says that the producer's name is the canonical one.
	Unknown, Same bool
}

func readFixture(t testing.TB, path string) *fixture {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var f fixture
	require.NoError(t, yaml.Unmarshal(text, &f))
	return &f
}

// request is the fixture as a request: points of one name are in one metric.
func (f *fixture) request() pmetric.Metrics {
	md := pmetric.NewMetrics()
	rm := md.ResourceMetrics().AppendEmpty()
	raw(rm.Resource().Attributes(), f.Resource)
	sm := rm.ScopeMetrics().AppendEmpty()
	sm.Scope().SetName(f.Scope)
	metrics := map[string]pmetric.Metric{}
	for _, s := range f.Metrics {
		m, ok := metrics[s.Send+s.As]
		if !ok {
			m = sm.Metrics().AppendEmpty()
			m.SetName(s.Send)
			m.SetUnit(s.Wire)
			metrics[s.Send+s.As] = m
		}
		s.point(m, f.Every)
	}
	return md
}

func (s *sent) point(m pmetric.Metric, every map[string]any) {
	fresh := m.Type() == pmetric.MetricTypeEmpty
	switch s.As {
	case "histogram":
		if fresh {
			m.SetEmptyHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
		}
		p := m.Histogram().DataPoints().AppendEmpty()
		p.ExplicitBounds().FromRaw(s.Bounds)
		p.BucketCounts().FromRaw(s.Counts)
		p.SetCount(total(s.Counts))
		p.SetSum(s.Value)
		raw(p.Attributes(), every, s.With)
	case "counter":
		if fresh {
			m.SetEmptySum().SetIsMonotonic(true)
			m.Sum().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		}
		p := m.Sum().DataPoints().AppendEmpty()
		p.SetDoubleValue(s.Value)
		raw(p.Attributes(), every, s.With)
	default:
		if fresh {
			m.SetEmptyGauge()
		}
		p := m.Gauge().DataPoints().AppendEmpty()
		p.SetDoubleValue(s.Value)
		raw(p.Attributes(), every, s.With)
	}
}

// want is what must come of one sent point, as lines renders it.
func (s *sent) want(f *fixture) string {
	on := pcommon.NewMap()
	name, unit := s.Want, s.Unit
	raw(on, f.Becomes, s.And)
	if s.Unknown {
		name, unit = s.Send, s.Wire
	}
	value := s.Value
	if s.Gives != nil {
		value = *s.Gives
	}
	kind, text := "Gauge", fmt.Sprint(value)
	switch s.As {
	case "histogram":
		bounds := s.Bounds
		if s.GivesBounds != nil {
			bounds = s.GivesBounds
		}
		kind, text = "Histogram", fmt.Sprintf("%v %v n=%d sum=%v", bounds, s.Counts, total(s.Counts), value)
	case "counter":
		kind = "Sum"
	}
	return strings.TrimSpace(strings.Join([]string{name, kind, unit, text, show(on)}, " "))
}

func total(counts []uint64) uint64 {
	var n uint64
	for _, c := range counts {
		n += c
	}
	return n
}

func raw(to pcommon.Map, all ...map[string]any) {
	for _, m := range all {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if err := to.PutEmpty(k).FromRaw(m[k]); err != nil {
				panic(err)
			}
		}
	}
}

func TestProducers(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "producers", "*.yaml"))
	require.NoError(t, err)
	require.Len(t, files, 9)
	for _, file := range files {
		f := readFixture(t, file)
		var want []string
		sources := map[string][]string{}
		for i := range f.Metrics {
			s := &f.Metrics[i]
			want = append(want, s.want(f))
			if !s.Unknown && !s.Same {
				sources[s.Want] = append(sources[s.Want], s.Send)
			}
		}
		slices.Sort(want)
		check := func(t *testing.T, md pmetric.Metrics) {
			p := newTest(t, shipped(t), metricsSignal, nil)
			got, err := p.processMetrics(t.Context(), md)
			require.NoError(t, err)
			assert.Equal(t, want, lines(got))
			rm := got.ResourceMetrics().At(0)
			resource := pcommon.NewMap()
			raw(resource, f.BecomesResource)
			assert.Equal(t, show(resource), show(rm.Resource().Attributes()))
			sm := rm.ScopeMetrics().At(0)
			assert.Equal(t, "https://pitwall-otel.github.io/schemas/1.0.0", sm.SchemaUrl())
			assert.Equal(t, "rl.schema.source_version=0", show(sm.Scope().Attributes()))
			for _, m := range sm.Metrics().All() {
				if source, ok := m.Metadata().Get("pitwall.source.name"); ok {
					assert.Contains(t, sources[m.Name()], source.Str())
					continue
				}
				assert.Empty(t, sources[m.Name()], "%s has no source", m.Name())
			}
		}
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name+"/by scope", func(t *testing.T) { check(t, f.request()) })
		t.Run(name+"/by service", func(t *testing.T) {
			md := f.request()
			rm := md.ResourceMetrics().At(0)
			rm.ScopeMetrics().At(0).Scope().SetName("")
			rm.Resource().Attributes().PutStr("service.name", name)
			f.BecomesResource = maps.Clone(f.BecomesResource)
			f.BecomesResource["service.name"] = name
			check(t, md)
		})
		t.Run(name+"/by its names", func(t *testing.T) {
			md := f.request()
			rm := md.ResourceMetrics().At(0)
			rm.ScopeMetrics().At(0).Scope().SetName("some.bridge")
			rm.Resource().Attributes().PutStr("service.name", "trainer")
			f.BecomesResource["service.name"] = "trainer"
			check(t, md)
		})
	}
}
