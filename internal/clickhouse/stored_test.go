package clickhouse

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The statement for so many rows is more than the server takes at once.
func testStored(t *testing.T, r *rig) {
	r.migrate(t)
	const n = 3000
	tags := `{"tag":"o'd\\` + strings.Repeat("☃", 80) + `"}`
	r.exec(t, fmt.Sprintf(`INSERT INTO %s (run_id, metric, host, unit, rank, device, step, event_time, value, tags_json)
		SELECT concat('run-', toString(number %% 3)), 'loss', 'h\'\\', 's', number, 65535, 18446744073709551615 - number,
			fromUnixTimestamp64Milli(toInt64(number) * 3600001 - 1500), if(number = 7, reinterpretAsFloat64(%d), number / 3), %s
		FROM numbers(%d)`, r.target.Ident(r.target.Table), math.Float64bits(math.NaN()), quoteLiteral(tags), n))
	row := func(i uint64) Row {
		value := float64(i) / 3
		if i == 7 {
			value = math.NaN()
		}
		return Row{
			Run: fmt.Sprintf("run-%d", i%3), Metric: "loss", Host: `h'\`, Unit: "s", Rank: uint32(i), Device: 65535, Step: math.MaxUint64 - i,
			Millis: int64(i)*3600001 - 1500, Value: math.Float64bits(value), Tags: tags,
		}
	}
	var rows []Row
	for i := range uint64(n) {
		rows = append(rows, row(i))
	}
	f := func(name string, rows []Row, wantDifferent, wantStored int) {
		t.Helper()
		different, stored, err := Stored(t.Context(), r.client, r.target, rows)
		require.NoError(t, err, name)
		assert.Equal(t, [2]int{wantDifferent, wantStored}, [2]int{different, stored}, name)
	}
	f("none", nil, 0, 0)
	f("one before 1970", rows[:1], 1, 1)
	f("all", rows, n, n)
	f("all twice", append(rows, rows...), n, n)
	f("one of two", []Row{rows[5], row(n)}, 2, 1)
	f("all and another", append(rows[:n:n], row(n)), n+1, n)
	for name, change := range map[string]func(*Row){
		"run": func(r *Row) { r.Run = "run-9" }, "metric": func(r *Row) { r.Metric = "lo" }, "host": func(r *Row) { r.Host = "" },
		"unit": func(r *Row) { r.Unit = "ms" }, "rank": func(r *Row) { r.Rank++ }, "device": func(r *Row) { r.Device-- },
		"step": func(r *Row) { r.Step-- }, "time": func(r *Row) { r.Millis++ }, "value": func(r *Row) { r.Value++ },
		"tags": func(r *Row) { r.Tags = "{}" },
	} {
		other := row(8)
		change(&other)
		f("another "+name, []Row{rows[7], other}, 2, 1)
	}
}
