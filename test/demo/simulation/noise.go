package simulation

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"
)

// random is a generator of its own for a place in the run, so that facts do not depend on the order they are made in.
func (s Spec) random(place string, numbers ...int64) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(place))
	for _, n := range numbers {
		_ = binary.Write(h, binary.LittleEndian, n)
	}
	return rand.New(rand.NewPCG(s.Seed, h.Sum64()))
}

// id is a number of eight bytes that nothing else in the run has, and that is not zero.
func (s Spec) id(place string, numbers ...int64) (id [8]byte) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s.ID + "/" + place))
	for _, n := range numbers {
		_ = binary.Write(h, binary.LittleEndian, n)
	}
	binary.BigEndian.PutUint64(id[:], h.Sum64()|1)
	return id
}

// around is a value with a relative error of that deviation.
func around(r *rand.Rand, value, deviation float64) float64 {
	return value * (1 + deviation*r.NormFloat64())
}

func jittered(r *rand.Rand, d time.Duration, deviation float64) time.Duration {
	return time.Duration(math.Max(0.3, 1+deviation*r.NormFloat64()) * float64(d)).Truncate(time.Millisecond)
}
