package block

import (
	"slices"

	"github.com/ClickHouse/ch-go/proto"
)

// columns are the output columns that are not dictionaries.
type columns struct {
	time   *proto.ColDateTime64
	rank   proto.ColUInt32
	device proto.ColUInt16
	step   proto.ColUInt64
	value  proto.ColFloat64
	tags   tagsColumn
	input  []proto.InputColumn
}

// tagsColumn is the number of values in a column of strings; the values themselves follow the block, whose last column it
// is.
type tagsColumn int

func (tagsColumn) Type() proto.ColumnType     { return proto.ColumnTypeString }
func (t tagsColumn) Rows() int                { return int(t) }
func (tagsColumn) EncodeColumn(*proto.Buffer) {}
func (tagsColumn) WriteColumn(*proto.Writer)  {}

// fill puts the given rows into the output columns, in their order.
func (b *Builder) fill(rows []uint32) []proto.InputColumn {
	o := &b.out
	if o.time == nil {
		o.time = new(proto.ColDateTime64).WithPrecision(proto.PrecisionMilli)
	}
	n := len(rows)
	o.time.Data = slices.Grow(o.time.Data[:0], n)[:n]
	o.rank = slices.Grow(o.rank[:0], n)[:n]
	o.device = slices.Grow(o.device[:0], n)[:n]
	o.step = slices.Grow(o.step[:0], n)[:n]
	o.value = slices.Grow(o.value[:0], n)[:n]
	o.tags = tagsColumn(n)
	for i, row := range rows {
		o.time.Data[i] = proto.DateTime64(b.millis[row])
		o.rank[i] = b.ranks[row]
		o.device[i] = b.devices[row]
		o.step[i] = b.steps[row]
		o.value[i] = b.values[row]
	}
	o.input = append(o.input[:0],
		proto.InputColumn{Name: "event_time", Data: o.time},
		proto.InputColumn{Name: "run_id", Data: b.run.fill(rows)},
		proto.InputColumn{Name: "host", Data: b.host.fill(rows)},
		proto.InputColumn{Name: "rank", Data: &o.rank},
		proto.InputColumn{Name: "device", Data: &o.device},
		proto.InputColumn{Name: "step", Data: &o.step},
		proto.InputColumn{Name: "metric", Data: b.metric.fill(rows)},
		proto.InputColumn{Name: "value", Data: &o.value},
		proto.InputColumn{Name: "unit", Data: b.unit.fill(rows)},
		proto.InputColumn{Name: "tags_json", Data: o.tags},
	)
	return o.input
}
