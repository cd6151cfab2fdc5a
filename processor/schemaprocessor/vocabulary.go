package schemaprocessor

import (
	"sync"

	"github.com/pitwall-otel/pitwall/schema"
)

// vocabulary is what one producer's names and attribute keys mean in data of one lineage.
type vocabulary struct {
	profile *schema.Profile
	// changes are the superseded names of this lineage.
	changes *schema.Changes
	lineage lineage
	// passing is the target of every name that is unknown.
	passing *target
	// plain is the target of log records that are no events.
	plain *target

	mu     sync.Mutex
	owners map[string]*attributes
}

// newVocabularies returns the vocabularies of all producers by lineage. The first producer is none: only what anyone may say.
func newVocabularies(p *schemaProcessor) ([][lineageCount]*vocabulary, error) {
	upgrade, err := p.registry.Changes("")
	if err != nil {
		return nil, err
	}
	all := make([][lineageCount]*vocabulary, len(p.producers))
	for i, producer := range p.producers {
		for l := range lineageCount {
			v := &vocabulary{profile: p.registry.Profile(producer), changes: &schema.Changes{}, lineage: l, owners: map[string]*attributes{}}
			if l == foreign || l == current {
				v.changes = upgrade
			}
			v.passing = &target{scale: 1, broken: 1 << unknownName, unknown: true, attributes: newAttributes(p, v, nil)}
			v.passing.detail(unknownName, "the registry does not have it")
			v.plain = &target{scale: 1, attributes: v.passing.attributes}
			all[i][l] = v
		}
	}
	return all, nil
}

// of returns the attributes of a metric, span or event in this vocabulary.
func (v *vocabulary) of(p *schemaProcessor, owner *schema.Metric) *attributes {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.owners[owner.Name] == nil {
		v.owners[owner.Name] = newAttributes(p, v, owner)
	}
	return v.owners[owner.Name]
}
