package test

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
)

// quiet leaves nothing in the table but what the test sends.
const quiet = `
receivers:
  host_metrics: {collection_interval: 1h, initial_delay: 1h}
  host_metrics/filesystems: {collection_interval: 1h, initial_delay: 1h}
exporters:
  metricpoints: {ledger_interval: 0s}
`

// observing passes on what the schema processor would set apart: for tests of what the exporter does with it.
const observing = `processors: {rlschema: {rules: {bad_name: observe, attribute_type: observe}}}`

// storedWithin is for acknowledged points to be in the table on a machine busy with other tests.
const storedWithin = time.Minute

// row is a row of metric_points with every column. The value is text, so that NaN equals NaN and -0 is not 0.
type row struct {
	millis    int64
	run, host string
	rank      uint32
	device    uint16
	step      uint64
	metric    string
	value     string
	unit      string
	tags      string
}

// noDevice is what the device column holds for a point of no device.
const noDevice = 65535

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// queryFunc sends a statement and returns the answer without its last line end.
type queryFunc func(sql string) (string, error)

// storedRows returns the rows that a condition in SQL selects, byte for byte.
func storedRows(t *testing.T, query queryFunc, where string) []row {
	t.Helper()
	return rowsOf(t, query, "metric_points", where)
}

func rowsOf(t *testing.T, query queryFunc, table, where string) []row {
	t.Helper()
	answer, err := query(`SELECT toUnixTimestamp64Milli(event_time), hex(run_id), hex(host), rank, device, step, hex(metric),
		hex(unit), hex(tags_json), reinterpretAsUInt64(value)
		FROM training_observability.` + table + ` WHERE ` + where + ` FORMAT TabSeparated`)
	require.NoError(t, err)
	var rows []row
	for line := range strings.Lines(answer) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		require.Len(t, f, 10, line)
		rows = append(rows, row{
			millis: int64(whole(t, f[0], 64)), run: text(t, f[1]), host: text(t, f[2]),
			rank: uint32(whole(t, f[3], 32)), device: uint16(whole(t, f[4], 16)), step: whole(t, f[5], 64),
			metric: text(t, f[6]), unit: text(t, f[7]), tags: text(t, f[8]), value: number(math.Float64frombits(whole(t, f[9], 64))),
		})
	}
	return rows
}

func whole(t *testing.T, s string, bits int) uint64 {
	t.Helper()
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n < 0 {
		return uint64(n) // a time before 1970
	}
	n, err := strconv.ParseUint(s, 10, bits)
	require.NoError(t, err)
	return n
}

func text(t *testing.T, s string) string {
	t.Helper()
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	return string(b)
}

// requireRows compares two sets of rows; the order does not matter, repetitions do.
func requireRows(t *testing.T, want, got []row) {
	t.Helper()
	sorted := func(rows []row) []row {
		return slices.SortedFunc(slices.Values(rows), func(a, b row) int {
			return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
		})
	}
	require.Equal(t, sorted(want), sorted(got))
}

// waitStored returns when every acknowledged point is in the table: the exporter then has none left in its log.
func waitStored(t *testing.T, c *collectortest.Collector) {
	t.Helper()
	require.Eventually(t, func() bool {
		queued, found := telemetry(c, "otelcol_metricpoints_points_queued")
		return found && queued == 0
	}, storedWithin, 50*time.Millisecond, "points still wait in the log")
}

// telemetry adds up what the collector says about itself under a name, as far as the labels fit.
func telemetry(c *collectortest.Collector, name string, labels ...string) (sum float64, found bool) {
	resp, err := http.Get("http://" + c.Telemetry + "/metrics")
	if err != nil {
		return 0, false // it has not started yet
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		end := strings.LastIndexByte(lines.Text(), ' ')
		if end < 0 {
			continue
		}
		metric, pairs, _ := strings.Cut(lines.Text()[:end], "{")
		if metric != name || slices.ContainsFunc(labels, func(label string) bool { return !strings.Contains(pairs, label) }) {
			continue
		}
		if n, err := strconv.ParseFloat(lines.Text()[end+1:], 64); err == nil {
			sum, found = sum+n, true
		}
	}
	return sum, found
}
