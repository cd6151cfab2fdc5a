package mapping

import "time"

// Counts: when they began, and whether they began anew.

// jitter is the relative size of a decrease that is none: sums of seconds over processes' files are added up in any order.
const jitter = 1e-9

// begun takes the start time that the engine itself tells.
func (p *point) begun(seconds float64, scrape uint64) {
	p.touched = scrape
	p.created = seconds2time(seconds)
}

// settle finishes the scrape's value of a point. It reports false for a histogram that is none.
func (p *point) settle() bool {
	switch p.metric.kind {
	case histogram:
		if !p.hist.close() {
			return false
		}
		p.value = float64(p.hist.total)
	case summary:
		p.value = p.hist.count
	case counter:
		// Another rank, or another name, says the same with a little less: the count waits until it is there.
		p.raw = p.value
		p.held = p.value < p.lastValue && p.rank != p.lastRank
		if p.held {
			p.rank = p.lastRank
		}
		if p.held || p.value < p.lastValue && p.value >= p.lastValue*(1-jitter) {
			p.value = p.lastValue
		}
	default:
	}
	return true
}

func (p *point) cumulative() bool { return p.metric.kind != gauge }

// fell reports that there is less than in the point before.
func (p *point) fell() bool {
	return p.value < p.lastValue || p.metric.kind == histogram && p.hist.shrunk
}

// settle finishes values, and drops the points whose lines make none and those that others stand for.
func (t *Target) settle(i *instance) {
	t.each(i, func(_ *metric, p *point) {
		if !p.settle() {
			t.drop(p, DropHistogram)
		}
	})
	t.each(i, func(m *metric, p *point) {
		if p.total == nil && p.totalIdentity != "" {
			p.total = i.points[p.totalIdentity]
		}
		switch {
		case m.fallback && i.has(m.metricKey):
			p.scrape = 0 // its lines have another point besides
		case p.total != nil && !p.total.removed && p.total.scrape == t.scrape:
			t.drop(p, DropPriority)
		}
	})
}

// has says whether the instance has points of a metric that are no fallback, or had some not long ago: where one kind of
// count takes turns with another, both are counted.
func (i *instance) has(key metricKey) bool {
	key.fallback = false
	return i.named[key] != nil
}

// each calls f for the points of the scrape.
func (t *Target) each(i *instance, f func(*metric, *point)) {
	for _, m := range i.metrics {
		for _, p := range m.points {
			if p.scrape == t.scrape {
				f(m, p)
			}
		}
	}
}

func (t *Target) drop(p *point, why Reason) {
	p.scrape = 0
	t.report.Dropped[why] += p.counted
	t.report.Series -= p.counted
}

// date sets the start times of counts, and remembers them.
func (t *Target) date(i *instance) {
	if !i.before.IsZero() && t.restarted(i) {
		i.epoch = later(i.epoch, after(i.before))
		t.report.Restarts++
	}
	i.cumulative = false
	t.each(i, func(m *metric, p *point) {
		if !p.cumulative() {
			return
		}
		p.again = p.again || t.crowded || m.unknown && t.crowdedOut
		undated := p.last.Equal(t.refused) && p.start.Equal(t.refused) && !t.refused.IsZero()
		if p.date(i) {
			t.report.Resets++
		} else if undated {
			p.start = i.at // that it was unknown at the time of that scrape, nobody was told
		}
		if p.last.IsZero() || p.value != p.lastValue {
			i.changed = i.at
		}
		p.prior = p.last
		p.last, p.lastValue, p.lastRank = i.at, p.value, p.rank
		i.cumulative = true
	})
}

// after is where a count begins that began anew some time after a scrape: never the same as the start before, which may be
// the time of that very scrape.
func after(scrape time.Time) time.Time { return scrape.Add(time.Millisecond) }

// restarted says whether the counts of an instance began anew as a whole: most of those that had counted something are
// lower. Then also those did that have overtaken their old values.
func (t *Target) restarted(i *instance) bool {
	before, lower := 0, 0
	t.each(i, func(_ *metric, p *point) {
		if !p.cumulative() || p.last.IsZero() || p.lastValue == 0 || p.held || p.rank != p.lastRank {
			return
		}
		before++
		if p.fell() {
			lower++
		}
	})
	return 2*lower > before
}

// date sets the start time of a count. It reports whether the count began anew since the point before.
func (p *point) date(i *instance) (reset bool) {
	known := p.known
	p.known = p.created
	fell := !p.last.IsZero() && p.fell()
	switch {
	case p.last.IsZero():
		p.appear(i)
		return false
	case !known.IsZero() && p.created.After(known):
		p.anew(between(p.last, p.created, i.at))
	case p.start.Before(i.epoch):
		p.anew(i.epoch)
	case p.metric.kind == histogram && (p.rank != p.lastRank || p.hist.changed && !fell):
		// Other buckets, or another rank's: how much of the value is new cannot be known.
		p.start, p.growth = i.at, 0
		return false
	case fell:
		p.anew(after(p.last))
	default:
		p.growth = p.value - p.lastValue
		return false
	}
	return true
}

// anew lets the count begin at a time, with what the series itself says.
func (p *point) anew(start time.Time) {
	if p.metric.kind == counter {
		p.value = p.raw
	}
	p.start, p.growth = start, p.value
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// appear dates the first point of a count. Where nobody knows how much of it is old, it begins now.
func (p *point) appear(i *instance) {
	p.growth = p.value
	created := !p.created.IsZero() && p.created.Before(i.at)
	switch {
	case created:
		p.start = later(p.created, i.epoch)
	case !i.before.IsZero() && !p.again:
		p.start = later(i.before, i.epoch)
	case !i.epoch.IsZero():
		p.start = i.epoch
	default:
		p.start, p.growth = i.at, 0
	}
	if p.again || created && p.created.Before(i.before) {
		p.growth = 0 // it was there before
	}
}
