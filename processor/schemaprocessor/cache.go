package schemaprocessor

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/pitwall-otel/pitwall/schema"
)

// ways is how many places a name may have in the cache. With four, names that are in use at the same time rarely push
// each other out as long as they are fewer than the places.
const ways = 4

// cache keeps plans by name. It never grows, and a hit neither locks nor allocates: a name has four places, and a new
// plan takes one of them over.
type cache struct {
	seed   maphash.Seed
	places []atomic.Pointer[entry]
	mask   uint64
	turn   atomic.Uint32
}

// question is what a plan answers: what a name means that a producer sends, with data of some lineage. Type and unit
// matter for metrics only.
type question struct {
	producer uint8
	lineage  lineage
	kind     schema.SourceType
	name     string
	unit     string
}

type entry struct {
	question question
	plan     *plan
}

func newCache(size int) *cache {
	places := ways
	for places < size {
		places *= 2
	}
	return &cache{seed: maphash.MakeSeed(), places: make([]atomic.Pointer[entry], places), mask: uint64(places - 1)}
}

func (c *cache) first(name string) uint64 { return maphash.String(c.seed, name) & c.mask &^ (ways - 1) }

func (c *cache) get(q *question) *plan {
	first := c.first(q.name)
	for i := range uint64(ways) {
		if e := c.places[first+i].Load(); e != nil && e.question == *q {
			return e.plan
		}
	}
	return nil
}

// put keeps a plan in a free place, else in place of another. Names are copied: they may be part of a large request.
func (c *cache) put(q *question, p *plan) {
	e := &entry{*q, p}
	e.question.name, e.question.unit = strings.Clone(q.name), strings.Clone(q.unit)
	first := c.first(q.name)
	for i := range uint64(ways) {
		if c.places[first+i].CompareAndSwap(nil, e) {
			return
		}
	}
	c.places[first+uint64(c.turn.Add(1)%ways)].Store(e)
}
