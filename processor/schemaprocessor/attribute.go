package schemaprocessor

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pitwall-otel/pitwall/schema"
)

// attribute is what one key means on one metric.
type attribute struct {
	key, to string
	kind    kind
	// mapping translates values; nil leaves them.
	mapping *schema.AttributeMapping
	// members are the known values of an enum; nil for everything else.
	members map[string]struct{}
	// keep says that the key means something itself and stays beside the one that it stands for.
	keep       bool
	preference int
	// timid says that a value which does not fit means that the key is not an alias here: "rank" is anybody's word.
	timid bool
	// required is the attribute's bit in the set of required ones.
	required uint64
	broken   rules
}

// aliased reports whether the key has to become another one.
func (a *attribute) aliased() bool { return a.to != a.key }

// Sets of required attributes are bits of a word; some are kept for the identity that the configuration requires.
const (
	maxRequired = 48
	maxIdentity = 16
)

// attributes are the meanings of keys on one metric. They are found out as keys come; reading takes no lock.
type attributes struct {
	processor  *schemaProcessor
	vocabulary *vocabulary
	// owner is nil for unknown metrics, whose attributes nobody can judge.
	owner *schema.Metric
	// required has the keys of the bits; those from identity on are the configuration's.
	required []string
	identity uint64
	all      uint64

	known     atomic.Pointer[map[string]*attribute]
	mu        sync.Mutex
	strangers atomic.Int32
	stranger  attribute
}

// hints are the meanings of the keys of the item before: the points of a metric have the same keys in the same order, and
// comparing a key costs less than looking it up.
type hints struct {
	in *attributes
	at [8]*attribute
}

func (h *hints) reset(a *attributes) {
	if h.in != a {
		*h = hints{in: a}
	}
}

// of returns what the i-th key of an item means.
func (h *hints) of(i int, key string) *attribute {
	if i >= len(h.at) {
		return h.in.of(key)
	}
	if hint := h.at[i]; hint != nil && hint.key == key {
		return hint
	}
	h.at[i] = h.in.of(key)
	return h.at[i]
}

// maxStrangers is how many unknown keys of one metric are remembered; the others are looked up each time.
const maxStrangers = 64

func newAttributes(p *schemaProcessor, v *vocabulary, owner *schema.Metric) *attributes {
	a := &attributes{processor: p, vocabulary: v, owner: owner}
	a.known.Store(&map[string]*attribute{})
	if owner != nil {
		a.stranger.broken.add(unknownAttribute)
		for _, use := range owner.Attributes {
			if use.Requirement == "required" && len(a.required) < maxRequired {
				a.required = append(a.required, use.Name)
			}
		}
	}
	for _, key := range p.config.RequiredIdentity {
		a.identity |= 1 << len(a.required)
		a.required = append(a.required, key)
	}
	a.all = 1<<len(a.required) - 1
	return a
}

// of returns what a key means.
func (a *attributes) of(key string) *attribute {
	if found := (*a.known.Load())[key]; found != nil {
		return found
	}
	return a.learn(key)
}

func (a *attributes) learn(key string) *attribute {
	learned := a.meaning(key)
	if learned == nil && a.strangers.Load() >= maxStrangers {
		return &a.stranger
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if learned == nil {
		a.strangers.Add(1)
		learned = &attribute{broken: a.stranger.broken}
		learned.key = strings.Clone(key)
		learned.to = learned.key
		learned.required = a.bit(key)
	}
	next := maps.Clone(*a.known.Load())
	next[learned.key] = learned
	a.known.Store(&next)
	return learned
}

// meaning returns nil for a key that neither the producer nor the registry has, nor the configuration asks for.
func (a *attributes) meaning(key string) *attribute {
	registry := a.processor.registry
	name := key
	if newName, ok := a.vocabulary.changes.Attributes[key]; ok {
		name = newName
	}
	var found attribute
	itself := registry.Attribute(name)
	m, ok := a.vocabulary.profile.Attribute(key, a.owner)
	if !ok && a.processor.signal == metricsSignal {
		m, ok = a.vocabulary.profile.Attribute(key, a.processor.anyPoint)
	}
	if ok && (m.Name == key || !a.owns(name)) {
		name, found.mapping, found.preference, found.keep = m.Name, m, m.Preference, itself != nil
		itself = m.Attribute
		found.timid = m.Name != key && !a.owns(m.Name)
	} else if bit := a.bit(key); itself == nil && bit != 0 {
		return &attribute{key: strings.Clone(key), to: strings.Clone(key), required: bit}
	} else if itself == nil {
		return nil
	}
	found.key, found.to, found.kind = strings.Clone(key), strings.Clone(name), kindOf(itself.Type)
	if len(itself.Members) > 0 {
		found.members = make(map[string]struct{}, len(itself.Members))
		for _, member := range itself.Members {
			found.members[member] = struct{}{}
		}
	}
	found.required = a.bit(found.to)
	if a.owner != nil && !a.owns(found.to) && !a.processor.identity[found.to] {
		found.broken.add(unknownAttribute)
	}
	return &found
}

// owns reports whether the metric has the attribute.
func (a *attributes) owns(key string) bool { return a.owner != nil && a.owner.Attribute(key) != nil }

func (a *attributes) bit(key string) uint64 {
	var bits uint64
	for i, required := range a.required {
		if required == key {
			bits |= 1 << i
		}
	}
	return bits
}
