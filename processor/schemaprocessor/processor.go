package schemaprocessor

import (
	"context"
	"fmt"

	"go.opentelemetry.io/collector/processor"

	"github.com/pitwall-otel/pitwall/processor/schemaprocessor/internal/metadata"
	"github.com/pitwall-otel/pitwall/schema"
	"github.com/pitwall-otel/pitwall/schema/names"
)

// schemaProcessor checks and translates one kind of telemetry. Everything in it may be read by any number of goroutines.
type schemaProcessor struct {
	config   *Config
	registry *schema.Registry
	signal   signal
	policy   policy

	// producers are the registry's, the first is none.
	producers    []string
	indexes      map[string]uint8
	vocabularies [][lineageCount]*vocabulary
	rules        []producerRule
	// identity are the attributes that may stand on anything: those of entities, and the step.
	identity map[string]bool
	// anyPoint has what any point may say in a producer's words besides identity: its step.
	anyPoint *schema.Metric

	origins   *origins
	cache     *cache
	ledger    *ledger
	unknown   *unknownNames
	offenders *offenders
	telemetry *metadata.TelemetryBuilder
}

// maxProducers is what a set of candidates can hold.
const maxProducers = 63

func newProcessor(set processor.Settings, c *Config, r *schema.Registry, s signal) (*schemaProcessor, error) {
	p := &schemaProcessor{
		config: c, registry: r, signal: s, policy: newPolicy(c.Rules),
		producers: append([]string{""}, r.Producers()...), indexes: map[string]uint8{}, identity: map[string]bool{},
		origins: newOrigins(r), cache: newCache(c.CacheSize), unknown: newUnknownNames(c.CacheSize),
		offenders: newOffenders(set.Logger),
	}
	if len(p.producers) > maxProducers {
		return nil, fmt.Errorf("the registry has %d producers, more than %d", len(p.producers), maxProducers)
	}
	for i, name := range p.producers[1:] {
		p.indexes[name] = uint8(i + 1)
	}
	for i, rule := range c.Producers {
		index, ok := p.indexes[rule.Producer]
		if !ok && rule.Producer != noProducer {
			return nil, fmt.Errorf("'producers::%d::producer' must be none or one of %v, not %q", i, p.producers[1:], rule.Producer)
		}
		p.rules = append(p.rules, producerRule{rule, index})
	}
	p.anyPoint = &schema.Metric{}
	if step := r.Attribute(names.AttributeRLStep); step != nil {
		p.anyPoint.Attributes = []schema.Use{{Name: step.Name, Attribute: step}}
		p.identity[step.Name] = true
	}
	for _, entity := range r.Entities() {
		for _, use := range entity.Attributes {
			p.identity[use.Name] = true
		}
	}
	var err error
	if p.vocabularies, err = newVocabularies(p); err != nil {
		return nil, err
	}
	p.ledger = newLedger(p.producers)
	if p.telemetry, err = metadata.NewTelemetryBuilder(set.TelemetrySettings); err != nil {
		return nil, err
	}
	if err := p.ledger.register(p.telemetry, set.ID.String(), s, p.unknown.number); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *schemaProcessor) shutdown(context.Context) error {
	p.offenders.flush()
	p.telemetry.Shutdown()
	return nil
}
