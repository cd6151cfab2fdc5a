package delta

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// Key names a series: a hash of everything that identifies it in OTLP. It is stored, so a change of what goes into it
// needs another snapshotVersion.
type Key [16]byte

// identity composes keys. What points share stands in front and is not written again.
type identity struct {
	buf   []byte
	names []string
}

func (i *identity) resource(r pcommon.Resource) {
	i.buf = i.buf[:0]
	i.attributes(r.Attributes())
}

func (i *identity) scope(s pcommon.InstrumentationScope) {
	i.text(s.Name())
	i.text(s.Version())
	i.attributes(s.Attributes())
}

func (i *identity) metric(m pmetric.Metric) {
	i.text(m.Name())
	i.text(m.Unit())
	i.buf = append(i.buf, byte(m.Type()))
}

// point leaves the buffer as it was.
func (i *identity) point(attributes pcommon.Map) Key {
	shared := len(i.buf)
	i.attributes(attributes)
	key := i.key()
	i.buf = i.buf[:shared]
	return key
}

func (i *identity) key() Key {
	sum := sha256.Sum256(i.buf)
	return Key(sum[:])
}

// attributes count whatever their order.
func (i *identity) attributes(m pcommon.Map) {
	i.names = i.names[:0]
	for name := range m.All() {
		i.names = append(i.names, name)
	}
	slices.Sort(i.names)
	i.buf = binary.AppendUvarint(i.buf, uint64(len(i.names)))
	for _, name := range i.names {
		v, _ := m.Get(name)
		i.text(name)
		i.buf = append(i.buf, byte(v.Type()))
		i.text(v.AsString())
	}
}

func (i *identity) text(s string) {
	i.buf = binary.AppendUvarint(i.buf, uint64(len(s)))
	i.buf = append(i.buf, s...)
}
