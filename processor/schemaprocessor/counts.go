package schemaprocessor

import (
	"context"
	"slices"
	"sync/atomic"

	otelattribute "go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/pitwall-otel/pitwall/processor/schemaprocessor/internal/metadata"
)

// tally is what happened to the items of one scope.
type tally struct {
	checked, translated, converted, upgraded, quarantined, rejected uint64
	findings                                                        [ruleCount][actionCount]uint64
	any                                                             bool
}

func (t *tally) found(r rule, a action, n uint64) {
	t.any = true
	t.findings[r][a] += n
}

// counts are the sums of one producer and version since the start.
type counts struct {
	producer, version                                               string
	checked, translated, converted, upgraded, quarantined, rejected atomic.Uint64
	findings                                                        [ruleCount][actionCount]atomic.Uint64
}

func (c *counts) add(t *tally) {
	for _, part := range [...]struct {
		to *atomic.Uint64
		n  uint64
	}{
		{&c.checked, t.checked},
		{&c.translated, t.translated},
		{&c.converted, t.converted},
		{&c.upgraded, t.upgraded},
		{&c.quarantined, t.quarantined},
		{&c.rejected, t.rejected},
	} {
		if part.n > 0 {
			part.to.Add(part.n)
		}
	}
	if !t.any {
		return
	}
	for r := range t.findings {
		for a, n := range t.findings[r] {
			if n > 0 {
				c.findings[r][a].Add(n)
			}
		}
	}
}

// ledger has the counts of all producers and versions; how many there can be is known at start.
type ledger struct {
	producers []string
	places    []atomic.Pointer[counts]
}

const versionPlaces = firstVersion + maxVersions

func newLedger(producers []string) *ledger {
	return &ledger{producers: producers, places: make([]atomic.Pointer[counts], len(producers)*versionPlaces)}
}

func (l *ledger) of(producer uint8, o origin) *counts {
	place := &l.places[int(producer)*versionPlaces+o.index]
	if c := place.Load(); c != nil {
		return c
	}
	place.CompareAndSwap(nil, &counts{producer: l.producers[producer], version: o.version})
	return place.Load()
}

// register makes the collector's telemetry read the counts.
func (l *ledger) register(b *metadata.TelemetryBuilder, id string, s signal, unknown func() int) error {
	own := []otelattribute.KeyValue{otelattribute.String("processor", id), otelattribute.String("signal", s.String())}
	each := func(read func(*counts, []otelattribute.KeyValue, metric.Int64Observer)) metric.Int64Callback {
		return func(_ context.Context, o metric.Int64Observer) error {
			for i := range l.places {
				if c := l.places[i].Load(); c != nil {
					read(c, append(own[:2:2], otelattribute.String("producer", c.producer), otelattribute.String("version", c.version)), o)
				}
			}
			return nil
		}
	}
	sum := func(of func(*counts) *atomic.Uint64) metric.Int64Callback {
		return each(func(c *counts, labels []otelattribute.KeyValue, o metric.Int64Observer) {
			o.Observe(int64(of(c).Load()), metric.WithAttributes(labels...))
		})
	}
	for _, add := range []func() error{
		func() error {
			return b.RegisterSchemaCheckedCallback(sum(func(c *counts) *atomic.Uint64 { return &c.checked }))
		},
		func() error {
			return b.RegisterSchemaTranslatedCallback(sum(func(c *counts) *atomic.Uint64 { return &c.translated }))
		},
		func() error {
			return b.RegisterSchemaConvertedCallback(sum(func(c *counts) *atomic.Uint64 { return &c.converted }))
		},
		func() error {
			return b.RegisterSchemaUpgradedCallback(sum(func(c *counts) *atomic.Uint64 { return &c.upgraded }))
		},
		func() error {
			return b.RegisterSchemaQuarantinedCallback(sum(func(c *counts) *atomic.Uint64 { return &c.quarantined }))
		},
		func() error {
			return b.RegisterSchemaRejectedCallback(sum(func(c *counts) *atomic.Uint64 { return &c.rejected }))
		},
		func() error { return b.RegisterSchemaFindingsCallback(each(observeFindings)) },
		func() error {
			return b.RegisterSchemaUnknownNamesCallback(func(_ context.Context, o metric.Int64Observer) error {
				o.Observe(int64(unknown()), metric.WithAttributes(own...))
				return nil
			})
		},
	} {
		if err := add(); err != nil {
			return err
		}
	}
	return nil
}

func observeFindings(c *counts, labels []otelattribute.KeyValue, o metric.Int64Observer) {
	for r := range ruleCount {
		for a := range actionCount {
			if n := c.findings[r][a].Load(); n > 0 {
				o.Observe(int64(n), metric.WithAttributes(append(slices.Clip(labels),
					otelattribute.String("rule", r.String()), otelattribute.String("action", a.String()))...))
			}
		}
	}
}
