package block

import (
	"math"
	"slices"

	"github.com/pitwall-otel/pitwall/internal/clickhouse"
)

// samplesPerMonth is how many of a month's rows stand for all of them, which the server stores at once or not at all.
const samplesPerMonth = 8

// Months divides rows by the UTC month of their time.
func (b *Builder) Months(rows []uint32) [][]uint32 {
	months := map[int][]uint32{}
	for _, row := range rows {
		month := b.month(row)
		months[month] = append(months[month], row)
	}
	divided := make([][]uint32, 0, len(months))
	for _, month := range months {
		divided = append(divided, month)
	}
	slices.SortFunc(divided, func(x, y []uint32) int { return int(x[0]) - int(y[0]) })
	return divided
}

// Sample returns a few of the rows, evenly, with the earliest and the latest. It comes after Sort.
func (b *Builder) Sample(rows []uint32) []clickhouse.Row {
	earliest, latest := rows[0], rows[0]
	for _, row := range rows {
		if b.millis[row] < b.millis[earliest] {
			earliest = row
		}
		if b.millis[row] > b.millis[latest] {
			latest = row
		}
	}
	sample := []clickhouse.Row{b.row(earliest), b.row(latest)}
	for i := range samplesPerMonth - 2 {
		sample = append(sample, b.row(rows[i*len(rows)/(samplesPerMonth-2)]))
	}
	return sample
}

// All returns the rows as the table has them. It comes after Sort.
func (b *Builder) All(rows []uint32) []clickhouse.Row {
	all := make([]clickhouse.Row, len(rows))
	for i, row := range rows {
		all[i] = b.row(row)
	}
	return all
}

func (b *Builder) row(row uint32) clickhouse.Row {
	return clickhouse.Row{
		Run:    b.run.text(row),
		Metric: b.metric.text(row),
		Host:   b.host.text(row),
		Unit:   b.unit.text(row),
		Rank:   b.ranks[row],
		Device: b.devices[row],
		Step:   b.steps[row],
		Millis: b.millis[row],
		Value:  math.Float64bits(b.values[row]),
		Tags:   string(b.tagBytes[b.tags[row].start:b.tags[row].end]),
	}
}
