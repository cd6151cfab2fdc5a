package block

import (
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/points"
)

// Columns are the columns of metric_points in the order in which blocks hold them.
const Columns = "event_time, run_id, host, rank, device, step, metric, value, unit, tags_json"

// Builder collects the rows of one range. It is not safe for concurrent use.
type Builder struct {
	sequence                uint64
	run, host, metric, unit dictionary
	ranks                   []uint32
	devices                 []uint16
	steps                   []uint64
	millis                  []int64
	values                  []float64
	tags                    []span
	tagBytes                []byte
	heads                   []head

	rows  []uint32
	keys  []keyed
	spare []keyed

	out     columns
	encoded proto.Buffer
}

// head is a payload's head with the dictionaries' ids.
type head struct{ run, host, metric, unit uint32 }

// span is a row's tags in tagBytes.
type span struct{ start, end uint32 }

// Reset forgets the rows.
func (b *Builder) Reset() {
	b.sequence++
	for _, d := range []*dictionary{&b.run, &b.host, &b.metric, &b.unit} {
		d.reset(b.sequence)
	}
	b.ranks, b.devices, b.steps = b.ranks[:0], b.devices[:0], b.steps[:0]
	b.millis, b.values, b.tags = b.millis[:0], b.values[:0], b.tags[:0]
	b.tagBytes = b.tagBytes[:0]
}

// pieceBytes is the most that Encode hands out at once: the server's own default for a compressed frame
// (max_compress_block_size).
const pieceBytes = 1 << 20

// rowBytes is about what a row takes in all columns, as it is collected and as it is encoded, without its tags.
const rowBytes = 160

// Used is about how many bytes the rows take.
func (b *Builder) Used() int { return len(b.values)*rowBytes + len(b.tagBytes) }

// Held is about how many bytes are kept for rows to come.
func (b *Builder) Held() int { return cap(b.values)*rowBytes + cap(b.tagBytes) + cap(b.encoded.Buf) }

// Rows is the number of rows added since the last Reset.
func (b *Builder) Rows() int { return len(b.values) }

// Add appends the rows of a payload, which may be reused afterwards. A damaged payload adds nothing.
func (b *Builder) Add(data []byte) error {
	p, err := points.ParsePayload(data)
	if err != nil {
		return err
	}
	b.addHeads(&p)
	tags, base := p.Tags(), uint32(len(b.tagBytes))
	b.tagBytes = tags.AppendAll(b.tagBytes)
	for i := range p.Rows {
		h := b.heads[p.RowHead(i)]
		b.run.rows = append(b.run.rows, h.run)
		b.host.rows = append(b.host.rows, h.host)
		b.metric.rows = append(b.metric.rows, h.metric)
		b.unit.rows = append(b.unit.rows, h.unit)
		start, end := tags.Span(int(p.RowTags(i)))
		b.tags = append(b.tags, span{start: base + start, end: base + end})
		b.ranks = append(b.ranks, p.Rank(i))
		b.devices = append(b.devices, p.Device(i))
		b.steps = append(b.steps, p.Step(i))
		b.millis = append(b.millis, p.Millis(i))
		b.values = append(b.values, p.Value(i))
	}
	return nil
}

func (b *Builder) addHeads(p *points.Payload) {
	texts := p.Strings()
	for _, d := range []*dictionary{&b.run, &b.host, &b.metric, &b.unit} {
		d.startPayload(texts.Len())
	}
	b.heads = slices.Grow(b.heads[:0], p.Heads())[:p.Heads()]
	for i := range b.heads {
		run, host, metric, unit := p.Head(i)
		b.heads[i] = head{
			run:    b.run.id(run, texts.At(int(run))),
			host:   b.host.id(host, texts.At(int(host))),
			metric: b.metric.id(metric, texts.At(int(metric))),
			unit:   b.unit.id(unit, texts.At(int(unit))),
		}
	}
}

// maxMonths is how many partitions one block may touch. The server takes 100 (max_partitions_per_insert_block), but syncs
// some 16 files for each before it answers.
const maxMonths = 12

// Sort orders the rows and returns them grouped so that no group touches more than 12 months. Groups depend on the rows
// alone.
func (b *Builder) Sort() [][]uint32 {
	if len(b.values) == 0 {
		return nil
	}
	for _, d := range []*dictionary{&b.run, &b.host, &b.metric, &b.unit} {
		d.order()
	}
	rows := b.sorted()
	if slices.Max(b.millis)-slices.Min(b.millis) < maxMonths*28*24*time.Hour.Milliseconds() {
		return [][]uint32{rows}
	}
	return b.byMonths(rows)
}

// month numbers the UTC months of all years.
func (b *Builder) month(row uint32) int {
	year, month, _ := time.UnixMilli(b.millis[row]).UTC().Date()
	return year*12 + int(month)
}

func (b *Builder) byMonths(rows []uint32) [][]uint32 {
	present := make(map[int]int)
	for _, row := range rows {
		present[b.month(row)] = 0
	}
	months := make([]int, 0, len(present))
	for m := range present {
		months = append(months, m)
	}
	slices.Sort(months)
	groups := make([][]uint32, (len(months)+maxMonths-1)/maxMonths)
	for i, m := range months {
		present[m] = i / maxMonths
	}
	for _, row := range rows {
		group := present[b.month(row)]
		groups[group] = append(groups[group], row)
	}
	return groups
}

// Encode hands out the Native block of a group of rows in pieces of at most 1 MiB, each valid during the call only: most
// of a block is tags, and they are in memory once already.
func (b *Builder) Encode(rows []uint32, take func(piece []byte) error) error {
	input := b.fill(rows)
	b.encoded.Reset()
	block := proto.Block{Columns: len(input), Rows: len(rows)}
	if err := block.EncodeRawBlock(&b.encoded, 0, input); err != nil {
		return fmt.Errorf("encode a block of %d rows: %w", len(rows), err)
	}
	for _, row := range rows {
		tags := b.tagBytes[b.tags[row].start:b.tags[row].end]
		b.encoded.PutUVarInt(uint64(len(tags)))
		b.encoded.PutRaw(tags)
		if err := b.give(pieceBytes, take); err != nil {
			return err
		}
	}
	return b.give(1, take)
}

// give hands out pieces of what is encoded while it is at least that long.
func (b *Builder) give(least int, take func(piece []byte) error) error {
	rest := b.encoded.Buf
	if len(rest) < least {
		return nil
	}
	for len(rest) >= least {
		piece := rest[:min(len(rest), pieceBytes)]
		if err := take(piece); err != nil {
			return err
		}
		rest = rest[len(piece):]
	}
	b.encoded.Buf = append(b.encoded.Buf[:0], rest...)
	return nil
}
