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
	truncated bool
	unknown   int // points under their own name that the registry does not know
	// refused is the time of the last scrape whose points nobody took.
	refused time.Time
	// crowded says that the page before had series without room, crowdedOut that only unknown ones had none.
	crowded, crowdedOut bool

	// series are by their hash. first stood first on the page before, behind is the one that was read last.
	series        map[uint64]*series
	memory        exposition.Memory
	first, behind *series
	labels        []exposition.Label
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
		mapper: m, identity: i, instances: map[string]*instance{}, families: map[familyKey]*family{}, series: map[uint64]*series{},
		memory: exposition.NewMemory(),
	}
}

// Map returns the points of one page, with the time at which it was scraped. Each engine or router on the page is a
// resource. A page that is none ([exposition.Reader.Err]) is a case for Down.
func (t *Target) Map(r *exposition.Reader, at time.Time) (pmetric.Metrics, *Report) {
	t.begin(at)
	r.Follow(&t.memory, t.known)
	for r.Next() {
		s := r.Sample()
		t.report.Samples++
		if e := t.find(&s, r); e != nil {
			t.observe(e, s.Value)
		}
	}
	t.follow(nil)
	bad := r.Bad()
	t.truncated = t.truncated || bad[exposition.LimitSamples] > 0 || bad[exposition.LimitBadLines] > 0
	for _, i := range t.ordered {
		if i.scrape == t.scrape {
			i.complete = !t.truncated
		}
	}
	out := t.emit()
	t.truncated = false
	t.crowded, t.crowdedOut = t.report.Dropped[DropMaxSeries] > 0, t.report.Dropped[DropMaxUnknown] > 0
	t.expect()
	t.forget()
	return out, &t.report
}

// Truncated says that the page that Map is given next lacks its end. Engines that are not on it have not vanished, and a
// count that is there again afterwards is not new. Map itself finds out where the reader stopped at a limit.
func (t *Target) Truncated() { t.truncated = true }

// Refused says that nobody took the points of the last scrape.
func (t *Target) Refused() { t.refused = t.at }

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
		Missing: t.report.Missing[:0],
		Workers: t.report.Workers[:0], Vanished: t.report.Vanished[:0],
	}
	t.behind, t.current = nil, nil
}

// find returns what the sample's series means, nil when there is no room for it. Where the page is like the one before, the
// reader says that it is the expected one.
func (t *Target) find(s *exposition.Sample, r *exposition.Reader) *series {
	if s.Name == nil {
		return t.use(t.expected(), s, r)
	}
	hash := t.memory.Hash(s.Series)
	if e := t.expected(); e != nil && e.is(hash, s) {
		return t.use(e, s, r)
	}
	e := t.series[hash]
	if e == nil || !e.is(hash, s) {
		f := t.familyOf(s)
		if f == nil {
			t.report.Dropped[DropMaxUnknown]++
			return nil
		}
		if e == nil && len(t.series) >= t.mapper.options.MaxSeries {
			reason := DropMaxSeries
			if f.reason != kept {
				reason = f.reason
			}
			t.report.Dropped[reason]++
			return nil
		}
		e = t.learn(f, hash, s, r)
	}
	return t.use(e, s, r)
}

func (s *series) is(hash uint64, sample *exposition.Sample) bool {
	return s.hash == hash && int(s.length) == len(sample.Series) && s.family.declared == sample.Type
}

// known is the expected series as the reader needs it.
func (t *Target) known() exposition.Known {
	e := t.expected()
	if e == nil {
		return exposition.Known{}
	}
	return exposition.Known{Hash: e.hash, Bytes: int(e.length), Type: e.family.declared, Part: e.part}
}

// expected is the series that stood here on the page before.
func (t *Target) expected() *series {
	if t.behind == nil {
		return t.first
	}
	return t.behind.follower
}

func (t *Target) follow(e *series) {
	if t.behind == nil {
		t.first = e
	} else {
		t.behind.follower = e
	}
	t.behind = e
}

// use notes that the scrape has the series, and makes it anew where its points were forgotten.
func (t *Target) use(e *series, s *exposition.Sample, r *exposition.Reader) *series {
	if e.forgotten() {
		follower := e.follower
		e = t.learn(e.family, e.hash, s, r)
		e.follower = follower
	}
	e.scrape, e.family.used = uint32(t.scrape), t.scrape
	if t.expected() != e {
		t.follow(e)
	}
	t.behind = e
	return e
}

func (t *Target) learn(f *family, hash uint64, s *exposition.Sample, r *exposition.Reader) *series {
	if t.labels = t.labels[:0]; f.reason == kept {
		t.labels = r.Labels(t.labels)
	}
	e := t.resolve(f, s.Part, t.labels)
	e.hash, e.length = hash, uint32(len(s.Series))
	t.series[hash] = e
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
	case e.family.starts:
		t.report.Series++
		if e.instance.started(v) {
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
	case o.role == labelled:
		return p.take(o.scale, o)
	case o.role == flagged:
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
