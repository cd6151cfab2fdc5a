package delta

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// Key names a series: a hash of everything that identifies it in OTLP. It is stored, so a change of what goes into it
// needs another snapshotVersion.
type Key [16]byte

// digest stands for what points share, so that a long resource is not hashed for each of them.
type digest = [sha256.Size]byte

// identity composes keys.
type identity struct {
	buf    []byte
	sorted []attribute
}

type attribute struct {
	name  string
	value pcommon.Value
}

func (i *identity) resource(r pcommon.Resource) digest {
	i.buf = i.buf[:0]
	i.attributes(r.Attributes())
	return sha256.Sum256(i.buf)
}

func (i *identity) scope(resource digest, s pcommon.InstrumentationScope) digest {
	i.buf = append(i.buf[:0], resource[:]...)
	i.text(s.Name())
	i.text(s.Version())
	i.attributes(s.Attributes())
	return sha256.Sum256(i.buf)
}

func (i *identity) metric(scope digest, m pmetric.Metric) digest {
	i.buf = append(i.buf[:0], scope[:]...)
	i.text(m.Name())
	i.text(m.Unit())
	i.buf = append(i.buf, byte(m.Type()))
	return sha256.Sum256(i.buf)
}

func (i *identity) point(metric digest, attributes pcommon.Map) Key {
	i.buf = append(i.buf[:0], metric[:]...)
	i.attributes(attributes)
	sum := sha256.Sum256(i.buf)
	return Key(sum[:])
}

// attributes count whatever their order.
func (i *identity) attributes(m pcommon.Map) {
	i.sorted = i.sorted[:0]
	for name, v := range m.All() {
		i.sorted = append(i.sorted, attribute{name, v})
	}
	slices.SortStableFunc(i.sorted, func(a, b attribute) int { return strings.Compare(a.name, b.name) })
	i.buf = binary.AppendUvarint(i.buf, uint64(len(i.sorted)))
	for _, a := range i.sorted {
		i.text(a.name)
		i.buf = append(i.buf, byte(a.value.Type()))
		i.text(a.value.AsString())
	}
}

func (i *identity) text(s string) {
	i.buf = binary.AppendUvarint(i.buf, uint64(len(s)))
	i.buf = append(i.buf, s...)
}
