package points

import (
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// Encoder turns requests into payloads. It is not safe for concurrent use.
type Encoder struct {
	settings Settings
	tagged   map[string]struct{}

	symbols  map[string]*symbol
	namings  map[string]*naming
	sequence uint64 // of the batch; symbols placed in an earlier one are placed anew
	none     *symbol
	unit     *symbol // of the metric before
	previous *naming
	batch    batch
	counts   Counts
	earliest int64 // milliseconds, the window of accepted times
	latest   int64

	attributes []attribute
	resource   resourceTags
	name       []byte // scratch for composed names
	pieces     []piece
	nested     []byte // scratch for nested values
	number     []byte // scratch for bounds and quantiles
}

// NewEncoder returns an Encoder with empty tables.
func NewEncoder(settings Settings) *Encoder {
	e := &Encoder{settings: settings, tagged: make(map[string]struct{}, len(settings.ResourceTags))}
	for _, name := range settings.ResourceTags {
		e.tagged[name] = struct{}{}
	}
	e.forget()
	return e
}

func (e *Encoder) forget() {
	e.symbols = make(map[string]*symbol)
	e.namings = make(map[string]*naming)
	e.none = e.symbol("")
	e.unit = e.none
	e.previous = &naming{}
}

// Encode appends the packed rows of one request to dst, and what r says of it; nothing when there are neither rows nor states.
func (e *Encoder) Encode(dst []byte, metrics pmetric.Metrics, r Request, now time.Time) ([]byte, Counts) {
	if len(e.symbols) > maxSymbols || len(e.namings) > maxSymbols {
		e.forget()
	}
	e.sequence++
	e.batch.reset()
	e.counts = Counts{}
	e.earliest, e.latest = now.Add(-oldestAge).UnixMilli(), now.Add(newestAhead).UnixMilli()

	for _, rm := range metrics.ResourceMetrics().All() {
		id := e.readAttributes(rm.Resource().Attributes(), identity{run: e.none, host: e.none, device: NoDevice})
		e.startResource()
		for _, sm := range rm.ScopeMetrics().All() {
			scoped := e.readAttributes(sm.Scope().Attributes(), id)
			for _, m := range sm.Metrics().All() {
				e.metric(m, scoped)
			}
		}
	}
	e.release()
	e.counts.Rows = len(e.batch.values)
	if e.counts.Rows == 0 && len(r.States) == 0 {
		return dst, e.counts
	}
	return e.batch.appendTo(dst, e.settings.Registry.Version(), r), e.counts
}

// release forgets what aliases the request, which an idle Encoder would else keep alive.
func (e *Encoder) release() {
	clear(e.attributes[:cap(e.attributes)])
	clear(e.pieces[:cap(e.pieces)])
	clear(e.resource.pieces[:cap(e.resource.pieces)])
}

// Held is about how many bytes the Encoder keeps for the next request.
func (e *Encoder) Held() int {
	const columns = 64 // bytes of a row and its head, in all columns
	return cap(e.batch.values)*columns + cap(e.batch.strings.bytes) + cap(e.batch.tags.bytes)
}

// Remembered is the number of strings kept between requests.
func (e *Encoder) Remembered() int { return len(e.symbols) }

func (e *Encoder) metric(m pmetric.Metric, id identity) {
	// Metrics of one request mostly share a unit.
	if m.Unit() != e.unit.text {
		e.unit = e.symbol(m.Unit())
	}
	p := point{naming: e.followingNaming(m.Name()), unit: e.unit, outer: id}
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		e.numbers(m.Gauge().DataPoints(), &p)
	case pmetric.MetricTypeSum:
		e.numbers(m.Sum().DataPoints(), &p)
	case pmetric.MetricTypeHistogram:
		for _, dp := range m.Histogram().DataPoints().All() {
			if e.start(&p, dp.Attributes(), dp.Timestamp(), dp.Flags()) {
				e.histogram(dp, &p)
			}
		}
	case pmetric.MetricTypeExponentialHistogram:
		for _, dp := range m.ExponentialHistogram().DataPoints().All() {
			if e.start(&p, dp.Attributes(), dp.Timestamp(), dp.Flags()) {
				e.exponentialHistogram(dp, &p)
			}
		}
	case pmetric.MetricTypeSummary:
		for _, dp := range m.Summary().DataPoints().All() {
			if e.start(&p, dp.Attributes(), dp.Timestamp(), dp.Flags()) {
				e.summary(dp, &p)
			}
		}
	}
}

func (e *Encoder) numbers(points pmetric.NumberDataPointSlice, p *point) {
	for _, dp := range points.All() {
		if !e.start(p, dp.Attributes(), dp.Timestamp(), dp.Flags()) {
			continue
		}
		switch dp.ValueType() {
		case pmetric.NumberDataPointValueTypeDouble:
			e.row(p, p.name, p.unitName, dp.DoubleValue()*p.scale, e.tags(extraTag{}))
		case pmetric.NumberDataPointValueTypeInt:
			e.row(p, p.name, p.unitName, float64(dp.IntValue())*p.scale, e.tags(extraTag{}))
		default:
			e.counts.NoRecordedValue++
		}
	}
}

// point is the data point being encoded: where it comes from and how it is named.
type point struct {
	naming *naming
	unit   *symbol
	outer  identity

	identity identity
	millis   int64
	name     *symbol
	unitName *symbol
	scale    float64
}

// start reads what all kinds of points share and reports whether the point makes rows.
func (e *Encoder) start(p *point, attributes pcommon.Map, timestamp pcommon.Timestamp, flags pmetric.DataPointFlags) bool {
	if flags.NoRecordedValue() {
		e.counts.NoRecordedValue++
		return false
	}
	millis, ok := e.eventTime(timestamp)
	if !ok {
		e.counts.TimeDropped++
		return false
	}
	p.millis = millis
	p.identity = e.readAttributes(attributes, p.outer)
	e.resolveName(p)
	return true
}

// latestStorable is 2299-12-31T23:59:59.999Z, the last time that DateTime64 can show.
const latestStorable = 10413791999999

func (e *Encoder) eventTime(timestamp pcommon.Timestamp) (int64, bool) {
	millis := min(int64(timestamp/1e6), latestStorable)
	if millis >= e.earliest && millis <= e.latest {
		return millis, true
	}
	e.counts.TimeOutside++
	switch e.settings.TimePolicy {
	case TimeDrop:
		return 0, false
	case TimeClamp:
		return min(max(millis, e.earliest), e.latest), true
	default:
		return millis, true
	}
}

func (e *Encoder) row(p *point, metric, unit *symbol, value float64, tags uint32) {
	b := &e.batch
	h := head{run: e.index(p.identity.run), host: e.index(p.identity.host), metric: e.index(metric), unit: e.index(unit)}
	if len(b.rowHeads) == 0 || b.last != h {
		b.heads.append(h)
		b.last = h
	}
	b.rowHeads = append(b.rowHeads, uint32(len(b.heads.run)-1))
	b.rowTags = append(b.rowTags, tags)
	b.ranks = append(b.ranks, p.identity.rank)
	b.devices = append(b.devices, p.identity.device)
	b.steps = append(b.steps, p.identity.step)
	b.millis = append(b.millis, p.millis)
	b.values = append(b.values, value)
}
