package mapping

import (
	"bytes"
	"math"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/exposition"
	"github.com/pitwall-otel/pitwall/schema"
)

// Identity says whose page it is.
type Identity struct {
	// Host and Port are where the page is asked for: the engine, or the router in front of engines.
	Host string
	Port int
	// Attributes are the resource's, of all engines on the page: run, role, replica. inference.role is also the role of
	// engines that do not say theirs (vLLM).
	Attributes pcommon.Map
}

// Target is one page over time. It is not safe for concurrent use.
type Target struct {
	mapper   *Mapper
	identity Identity
	report   Report

	scrape    uint64
	at        time.Time
	instances map[string]*instance
	ordered   []*instance
	families  map[familyKey]*family
	current   *family
	name      []byte // of current
	unknown   int    // points under their own name that the registry does not know

	series map[string]*series
	// order has the series of the scrape before, as they stood on the page, and next is the one that is expected now.
	order, filling []*series
	next           int
	labels         []exposition.Label
}

type familyKey struct {
	name string
	kind exposition.Type
}

// maxFamilies bounds names that come without a TYPE line.
const maxFamilies = 20_000

// NewTarget returns the state of one page, which belongs to one goroutine.
func (m *Mapper) NewTarget(i Identity) *Target {
	return &Target{
		mapper: m, identity: i, instances: map[string]*instance{}, families: map[familyKey]*family{}, series: map[string]*series{},
	}
}

// Map returns the points of one page, with the time at which it was scraped. Each engine or router on the page is a
// resource. A page that is none ([exposition.Reader.Err]) is a case for Down.
func (t *Target) Map(r *exposition.Reader, at time.Time) (pmetric.Metrics, *Report) {
	t.begin(at)
	for r.Next() {
		s := r.Sample()
		t.report.Samples++
		if e := t.find(&s, r); e != nil {
			t.observe(e, s.Value)
		}
	}
	t.order, t.filling = t.filling, t.order
	bad := r.Bad()
	complete := bad[exposition.LimitSamples] == 0 && bad[exposition.LimitBadLines] == 0
	for _, i := range t.ordered {
		if i.scrape == t.scrape {
			i.complete = complete
		}
	}
	out := t.emit()
	t.expect()
	t.forget()
	return out, &t.report
}

// Down returns inference.engine.up = 0 for the engines that the page had before, for a scrape that failed.
func (t *Target) Down(at time.Time) pmetric.Metrics {
	t.begin(at)
	out := t.emit()
	t.forget()
	return out
}

func (t *Target) begin(at time.Time) {
	t.scrape++
	t.at = at
	t.report = Report{
		UnknownNames: t.report.UnknownNames[:0], Missing: t.report.Missing[:0],
		Workers: t.report.Workers[:0], Vanished: t.report.Vanished[:0],
	}
	t.next, t.filling, t.current = 0, t.filling[:0], nil
}

// find returns what the sample's series means, nil when that is nothing and was counted. In the order of the scrape before
// it costs a comparison.
func (t *Target) find(s *exposition.Sample, r *exposition.Reader) *series {
	if t.next < len(t.order) {
		if e := t.order[t.next]; e.raw == string(s.Series) && e.family.kind == s.Type {
			t.next++
			return t.use(e, s, r)
		}
	}
	f := t.familyOf(s)
	if f == nil || f.reason != kept {
		reason := DropMaxUnknown
		if f != nil {
			reason = f.reason
		}
		t.report.Dropped[reason]++
		return nil
	}
	e := t.series[string(s.Series)]
	switch {
	case e != nil && e.family == f:
		t.next = e.position + 1
		return t.use(e, s, r)
	case e == nil && len(t.series) >= t.mapper.options.MaxSeries:
		t.report.Dropped[DropMaxSeries]++
		return nil
	}
	return t.use(t.learn(f, s, r), s, r)
}

// use notes that the scrape has the series, and makes it anew where its points were forgotten.
func (t *Target) use(e *series, s *exposition.Sample, r *exposition.Reader) *series {
	if e.forgotten() {
		e = t.learn(e.family, s, r)
	}
	e.family.used = t.scrape
	e.scrape, e.position = t.scrape, len(t.filling)
	t.filling = append(t.filling, e)
	return e
}

func (t *Target) learn(f *family, s *exposition.Sample, r *exposition.Reader) *series {
	t.labels = r.Labels(t.labels[:0])
	e := t.resolve(f, s.Part, t.labels)
	e.raw = string(s.Series)
	t.series[e.raw] = e
	return e
}

func (t *Target) familyOf(s *exposition.Sample) *family {
	if t.current != nil && t.current.kind == s.Type && bytes.Equal(t.name, s.Family) {
		return t.current
	}
	key := familyKey{string(s.Family), s.Type}
	f := t.families[key]
	if f == nil {
		if len(t.families) >= maxFamilies {
			return nil
		}
		f = t.mapper.family(key.name, key.kind)
		t.families[key] = f
	}
	f.used = t.scrape
	t.current, t.name = f, append(t.name[:0], s.Family...)
	return f
}

// observe adds a sample to the points of its series.
func (t *Target) observe(e *series, v float64) {
	reason := e.reason
	if reason == kept {
		reason = e.judge(v)
	}
	if reason != kept {
		t.report.Dropped[reason]++
		return
	}
	e.instance.touch(t.scrape, t.at)
	switch {
	case e.starts != nil:
		t.report.Series++
		if e.starts.started(v) {
			t.report.Restarts++
		}
		return
	case e.part == exposition.Created:
		t.report.Series++
		for i := range e.outputs {
			e.outputs[i].point.begun(v, t.scrape)
		}
		return
	}
	for k := range e.outputs {
		o := &e.outputs[k]
		taken, why, over := o.point.claim(t.scrape, o.rank, e.family.name)
		if k > 0 {
			// What is derived is not counted.
			if taken {
				o.add(e.part, v)
			}
			continue
		}
		t.report.Dropped[why] += over
		t.report.Series -= over
		switch {
		case !taken:
			reason = why
		case o.add(e.part, v):
			o.point.counted++
			t.report.Series++
		default:
			reason = DropDuplicate
		}
	}
	if reason != kept {
		t.report.Dropped[reason]++
		return
	}
	e.family.seen = t.scrape
}

// add reports false when the line repeats one that is there; the last counts.
func (o *output) add(part exposition.Part, v float64) bool {
	p := o.point
	switch {
	case !math.IsNaN(o.constant):
		v = o.constant
	case o.flag:
		v = min(1, math.Ceil(v))
	}
	if p.hist == nil {
		return p.take(rescale(v, o.scale), o)
	}
	repeated := false
	switch part {
	case exposition.Bucket, exposition.Value:
		repeated = p.hist.slots[o.slot].present
		p.hist.set(o.slot, v)
	case exposition.Sum:
		repeated = p.hist.hasSum
		p.hist.sum, p.hist.hasSum = rescale(v, o.scale), true
	case exposition.Count:
		repeated = p.hist.hasCount
		p.hist.count, p.hist.hasCount = v, true
	case exposition.Created:
	}
	return !repeated
}

func rescale(v, scale float64) float64 {
	if scale == 1 {
		return v
	}
	return schema.Rescale(v, scale)
}
