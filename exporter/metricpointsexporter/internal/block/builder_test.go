package block_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/block"
	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/points"
)

// row is a row as ClickHouse would read it.
type row struct {
	millis                  int64
	run, host, metric, unit string
	rank                    uint32
	device                  uint16
	step                    uint64
	value                   float64
	tags                    string
}

// tableKey compares as ORDER BY (run_id, metric, host, rank, device, step, event_time) does.
func tableKey(a, b row) int {
	return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.metric, b.metric), cmp.Compare(a.host, b.host),
		cmp.Compare(a.rank, b.rank), cmp.Compare(a.device, b.device), cmp.Compare(a.step, b.step), cmp.Compare(a.millis, b.millis))
}

// payloadOf sends rows the way they come: as OTLP, one resource each.
func payloadOf(t testing.TB, rows []row) []byte {
	t.Helper()
	metrics := pmetric.NewMetrics()
	for _, r := range rows {
		rm := metrics.ResourceMetrics().AppendEmpty()
		rm.Resource().Attributes().PutStr("rl.run.id", r.run)
		rm.Resource().Attributes().PutStr("host.name", r.host)
		m := rm.ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
		m.SetName(r.metric)
		m.SetUnit(r.unit)
		dp := m.SetEmptyGauge().DataPoints().AppendEmpty()
		dp.SetTimestamp(pcommon.Timestamp(r.millis * 1e6))
		dp.SetDoubleValue(r.value)
		dp.Attributes().PutInt("rl.rank.global", int64(r.rank))
		dp.Attributes().PutInt("rl.step", int64(r.step))
		if r.device != points.NoDevice {
			dp.Attributes().PutInt("rl.device.index", int64(r.device))
		}
		if r.tags != "" {
			dp.Attributes().PutStr("tag", r.tags)
		}
	}
	payload, counts := points.NewEncoder(settings(t)).Encode(nil, metrics, points.Request{}, time.Now())
	require.Equal(t, len(rows), counts.Rows)
	return payload
}

// decode reads a Native block with ch-go's reader.
func decode(t testing.TB, data []byte) []row {
	t.Helper()
	var (
		millis                  proto.ColDateTime64
		run, host, metric, unit = new(proto.ColStr).LowCardinality(), new(proto.ColStr).LowCardinality(), new(proto.ColStr).LowCardinality(), new(proto.ColStr).LowCardinality()
		rank                    proto.ColUInt32
		device                  proto.ColUInt16
		step                    proto.ColUInt64
		value                   proto.ColFloat64
		tags                    proto.ColStr
	)
	results := proto.Results{
		{Name: "event_time", Data: millis.WithPrecision(proto.PrecisionMilli)},
		{Name: "run_id", Data: run},
		{Name: "host", Data: host},
		{Name: "rank", Data: &rank},
		{Name: "device", Data: &device},
		{Name: "step", Data: &step},
		{Name: "metric", Data: metric},
		{Name: "value", Data: &value},
		{Name: "unit", Data: unit},
		{Name: "tags_json", Data: &tags},
	}
	reader := proto.NewReader(bytes.NewReader(data))
	var b proto.Block
	require.NoError(t, b.DecodeRawBlock(reader, 0, results))
	rows := make([]row, b.Rows)
	for i := range rows {
		rows[i] = row{
			millis: int64(millis.Data[i]), run: run.Row(i), host: host.Row(i), metric: metric.Row(i), unit: unit.Row(i),
			rank: rank[i], device: device[i], step: step[i], value: value[i], tags: tags.Row(i),
		}
	}
	return rows
}

// manyRows is a set of distinct rows in no order; each value is distinct, so a mixed-up row is seen.
func manyRows(n int) []row {
	rows := make([]row, n)
	for i := range rows {
		scattered := i * 7919 % n
		rows[i] = row{
			millis: 1_790_000_000_000 + int64(scattered%17), run: fmt.Sprintf("run-%d", scattered%3), host: fmt.Sprintf("host-%d", scattered%5),
			metric: fmt.Sprintf("metric-%d", scattered%41), unit: []string{"", "s", "By"}[scattered%3], rank: uint32(scattered % 64),
			device: []uint16{0, 3, 7, points.NoDevice}[scattered%4], step: uint64(scattered % 101), value: float64(i),
		}
		if scattered%2 == 0 {
			rows[i].tags = fmt.Sprintf(`{"tag":"%d"}`, scattered%7)
		}
	}
	return rows
}

// encoded is a group's block, whole.
func encoded(t testing.TB, builder *block.Builder, rows []uint32) (data []byte) {
	t.Helper()
	require.NoError(t, builder.Encode(rows, func(piece []byte) error {
		require.NotEmpty(t, piece)
		require.LessOrEqual(t, len(piece), 1<<20)
		data = append(data, piece...)
		return nil
	}))
	return data
}

func TestBuilder_RowsComeOutSortedAndWhole(t *testing.T) {
	f := func(name string, rows []row) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			var builder block.Builder
			// Twice: the second use must not see the first.
			for range 2 {
				builder.Reset()
				for part := range slices.Chunk(rows, 97) {
					plain := slices.Clone(part)
					for i := range plain {
						plain[i].tags = tagValue(plain[i].tags)
					}
					require.NoError(t, builder.Add(payloadOf(t, plain)))
				}
				groups := builder.Sort()
				require.Len(t, groups, 1)
				got := decode(t, encoded(t, &builder, groups[0]))
				assert.True(t, slices.IsSortedFunc(got, tableKey))
				assert.ElementsMatch(t, rows, got)
			}
		})
	}
	f("one row", manyRows(1))
	f("few", manyRows(10))
	f("many", manyRows(1500))
	long := manyRows(700)
	for i := range long {
		// Values this wide do not fit a 64-bit key: the slow way must sort alike.
		long[i].step *= 1 << 48
		long[i].rank *= 1 << 20
	}
	f("keys wider than 64 bits", long)
	noDevice := manyRows(50)
	for i := range noDevice {
		noDevice[i].device = points.NoDevice
	}
	f("no device at all", noDevice)
	highDevice := manyRows(50)
	for i := range highDevice {
		highDevice[i].device = []uint16{65534, points.NoDevice}[i%2]
	}
	f("the largest device and none", highDevice)
	several := manyRows(300)
	for i := range several {
		several[i].metric = fmt.Sprintf("metric-%d", i) // more than one byte of dictionary keys
	}
	f("300 names", several)
	special := manyRows(3)
	special[0].value, special[1].value = math.Inf(1), math.Inf(-1)
	f("infinities", special)
}

// tagValue is what stands in the one tag that payloadOf sends for a row whose tags_json is json.
func tagValue(json string) string {
	var value string
	if _, err := fmt.Sscanf(json, `{"tag":"%1s"}`, &value); err != nil {
		return ""
	}
	return value
}

func TestBuilder_MoreMonthsThanOneInsertMayTouch(t *testing.T) {
	const months = 200
	var rows []row
	start := time.Date(2008, 1, 31, 23, 59, 59, 0, time.UTC)
	for i := range months {
		at := time.Date(start.Year(), start.Month()+time.Month(i), 15, 0, 0, 0, 0, time.UTC)
		for j := range 3 {
			rows = append(rows, row{millis: at.UnixMilli() + int64(j), run: "r", metric: "m", device: points.NoDevice, value: float64(i*3 + j)})
		}
	}
	var builder block.Builder
	builder.Reset()
	require.NoError(t, builder.Add(payloadOf(t, rows)))
	groups := builder.Sort()
	var all []row
	for _, group := range groups {
		got := decode(t, encoded(t, &builder, group))
		assert.True(t, slices.IsSortedFunc(got, tableKey))
		touched := map[string]bool{}
		for _, r := range got {
			touched[time.UnixMilli(r.millis).UTC().Format("2006-01")] = true
		}
		assert.LessOrEqual(t, len(touched), 100) // the server's default max_partitions_per_insert_block
		all = append(all, got...)
	}
	assert.ElementsMatch(t, rows, all)
}

// 4 MiB of tags: no piece holds a whole block, and no tags fit the pieces' bounds.
func TestBuilder_BlockOfManyPieces(t *testing.T) {
	sent, want := manyRows(400), manyRows(400)
	for i := range sent {
		sent[i].tags = strings.Repeat(string(rune('a'+i%26)), 10_000+i)
		want[i].tags = `{"tag":"` + sent[i].tags + `"}`
	}
	var builder block.Builder
	builder.Reset()
	require.NoError(t, builder.Add(payloadOf(t, sent)))
	rows := builder.Sort()[0]
	data := encoded(t, &builder, rows)
	require.Greater(t, len(data), 4_000_000)
	assert.ElementsMatch(t, want, decode(t, data))
	assert.Equal(t, data, encoded(t, &builder, rows), "as often as wanted")

	failed := errors.New("no more")
	pieces := 0
	require.ErrorIs(t, builder.Encode(rows, func([]byte) error {
		pieces++
		if pieces == 2 {
			return failed
		}
		return nil
	}), failed)
	assert.Equal(t, 2, pieces)
}

func TestBuilder_DamagedPayloadAddsNothing(t *testing.T) {
	var builder block.Builder
	builder.Reset()
	good := payloadOf(t, manyRows(5))
	require.Error(t, builder.Add(good[:len(good)-3]))
	assert.Zero(t, builder.Rows())
	require.NoError(t, builder.Add(good))
	assert.Equal(t, 5, builder.Rows())
}

func TestBuilder_SameRowsSameBytes(t *testing.T) {
	encode := func() []byte {
		var builder block.Builder
		builder.Reset()
		for part := range slices.Chunk(manyRows(500), 50) {
			require.NoError(t, builder.Add(payloadOf(t, part)))
		}
		return encoded(t, &builder, builder.Sort()[0])
	}
	first, again := encode(), encode()
	assert.Equal(t, first, again)
}

func TestCompressor_FramesThatChGoReads(t *testing.T) {
	data := bytes.Repeat([]byte("metric_points "), 300_000) // several frames
	for _, compression := range []block.Compression{block.LZ4, block.ZSTD} {
		compressor, err := block.NewCompressor(compression)
		require.NoError(t, err)
		for range 2 {
			var framed []byte
			for piece := range slices.Chunk(data, 1<<20) {
				framed, err = compressor.Append(framed, piece)
				require.NoError(t, err)
			}
			got := make([]byte, len(data))
			_, err = compress.NewReader(bytes.NewReader(framed)).Read(got[:1])
			require.NoError(t, err)
			assert.Less(t, len(framed), len(data)/10)
			reader := compress.NewReader(bytes.NewReader(framed))
			filled := 0
			for filled < len(got) {
				n, err := reader.Read(got[filled:])
				require.NoError(t, err)
				filled += n
			}
			assert.True(t, bytes.Equal(data, got), compression)
		}
	}
	_, err := block.NewCompressor("brotli")
	assert.ErrorContains(t, err, "brotli")
}
