package enginereceiver

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/exposition"
	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/mapping"
	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/scrape"
	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/targets"
)

// page is one target over time. It belongs to one goroutine.
type page struct {
	r      *engineReceiver
	target targets.Target
	mapped *mapping.Target
	since  time.Time
	total  total

	// version is what the engine says of itself, when it was last asked, provider which program that was.
	version, provider string
	versionAt         time.Time
}

// outcome is what one scrape brought.
type outcome struct {
	at   time.Time
	took time.Duration
	size int64
	// failure is the reason of a scrape that brought nothing, and empty for one that did.
	failure string
	bad     exposition.Bad
	report  *mapping.Report
}

func newPage(r *engineReceiver, target targets.Target) *page {
	return &page{
		r: r, target: target, since: time.Now(), total: total{failures: map[string]int64{}},
		mapped: r.mapper.NewTarget(mapping.Identity{Host: target.Host, Port: target.Port, Attributes: identity(&target)}),
	}
}

// scrape asks for the page once and hands on what it says.
func (p *page) scrape(ctx context.Context) {
	o := outcome{at: time.Now()}
	answer, err := p.r.scraper.Get(ctx, p.target.URL)
	if ctx.Err() != nil {
		if answer != nil {
			p.r.scraper.Release(answer)
		}
		return // the target is not wanted any more, or the receiver stops
	}
	o.took = time.Since(o.at)
	var md pmetric.Metrics
	if err == nil {
		md = p.read(answer, &o)
	} else {
		md = p.mapped.Down(o.at)
		o.failure = failureOf(err)
		p.total.failures[o.failure]++
		p.r.counts.troubles.add(p.target.Name + ": " + err.Error())
	}
	p.count(ctx, &o)
	p.describe(md, &o)
	p.consume(ctx, md)
	p.askVersion(ctx, &o) // last: an engine that is busy answers late, and points must not wait for that
}

// read makes metrics of an answer and gives its memory back.
func (p *page) read(answer *scrape.Page, o *outcome) pmetric.Metrics {
	reader := exposition.NewReader(answer.Body, answer.ContentType, p.r.limits)
	if answer.Truncated {
		p.mapped.Truncated()
	}
	md, report := p.mapped.Map(reader, o.at)
	o.report, o.bad, o.size = report, reader.Bad(), answer.Bytes
	p.total.lastSuccess = o.at
	if answer.Truncated {
		p.total.limited++
		p.r.counts.troubles.add(p.target.Name + ": the answer is larger than 'max_body_size'")
	}
	p.r.scraper.Release(answer)
	return md
}

// failureOf is the kind of a failed scrape, as error.type has it.
func failureOf(err error) string {
	if failed, ok := errors.AsType[*scrape.Error](err); ok {
		return string(failed.Kind)
	}
	return "other"
}

// consume hands the points on. A refusal is counted and not repeated: the next scrape has newer gauges, and counters go on
// from where they were. A scrape that was read is handed on whole, even when the receiver stops meanwhile.
func (p *page) consume(ctx context.Context, md pmetric.Metrics) {
	points := md.DataPointCount()
	ctx = p.r.obs.StartMetricsOp(context.WithoutCancel(ctx))
	err := p.r.next.ConsumeMetrics(ctx, md)
	p.r.obs.EndMetricsOp(ctx, "prometheus", points, err)
	if err == nil {
		return
	}
	p.mapped.Refused()
	if consumererror.IsPermanent(err) {
		p.r.counts.troubles.add("points are not wanted: " + err.Error())
		return
	}
	p.r.counts.troubles.add("points are refused for now, the next scrape has newer ones: " + err.Error())
}

// skip counts turns that passed while a scrape ran or waited for its place.
func (p *page) skip(ctx context.Context, turns int) {
	p.total.skipped += int64(turns)
	p.r.counts.telemetry.EngineScrapes.Add(ctx, int64(turns), p.r.counts.with("outcome", "skipped"))
	p.r.counts.troubles.add(p.target.Name + ": takes longer than 'collection_interval', or 'max_concurrent_scrapes' is too small")
}

// count adds what was found to the receiver's telemetry and to the target's totals.
func (p *page) count(ctx context.Context, o *outcome) {
	c := p.r.counts
	kind := o.failure
	if kind == "" {
		kind = "ok"
	}
	c.telemetry.EngineScrapes.Add(ctx, 1, c.with("outcome", kind))
	for reason, lines := range o.bad {
		if lines == 0 {
			continue
		}
		r := exposition.Reason(reason)
		c.telemetry.EngineBadLines.Add(ctx, int64(lines), c.with("reason", r.String()))
		if key := limitOfLines(r); key != "" {
			p.limited(key, lines)
		} else {
			p.total.badLines += int64(lines)
			c.troubles.add(p.target.Name + ": lines that cannot be read (" + r.String() + ")")
		}
	}
	if o.report == nil {
		return
	}
	for _, reason := range mapping.Reasons() {
		if n := o.report.Dropped[reason]; n > 0 {
			c.telemetry.EngineDroppedSamples.Add(ctx, int64(n), c.with("reason", reason.String()))
			if key := limitOfSeries(reason); key != "" {
				p.limited(key, n)
			}
		}
	}
}

// limited notes lines that could have been used.
func (p *page) limited(key string, lines int) {
	p.total.limited += int64(lines)
	p.r.counts.troubles.add(p.target.Name + ": lines over 'limits::" + key + "' are left out")
}

// limitOfLines is the key of the limit that a line was over, empty for one that could not be read.
func limitOfLines(r exposition.Reason) string {
	switch r {
	case exposition.LimitLine:
		return "max_line_bytes"
	case exposition.LimitLabelValue:
		return "max_label_value_bytes"
	case exposition.LimitLabels:
		return "max_labels"
	case exposition.LimitSamples:
		return "max_samples"
	case exposition.LimitFamilies:
		return "max_families"
	case exposition.LimitBadLines:
		return "max_bad_lines"
	default:
		return ""
	}
}

// limitOfSeries is the key of the limit that left no room for a series.
func limitOfSeries(r mapping.Reason) string {
	switch r {
	case mapping.DropMaxSeries:
		return "max_series"
	case mapping.DropMaxUnknown:
		return "max_unknown"
	case mapping.DropMaxWorkers:
		return "max_workers"
	default:
		return ""
	}
}
