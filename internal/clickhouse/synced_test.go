package clickhouse

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The engine syncs what an INSERT wrote, to every table, before it answers: by its own count of the calls. Without the
// migration's settings it makes none.
func testSynced(t *testing.T, r *rig) {
	r.migrate(t)
	synced := func(insert string) (files, directories int) {
		counts := func() [2]int {
			var n [2]int
			for i, event := range []string{"FileSync", "DirectorySync"} {
				rows := r.query(t, "SELECT sum(value) FROM system.events WHERE event = '"+event+"'")
				var err error
				n[i], err = strconv.Atoi(rows[0][0])
				require.NoError(t, err)
			}
			return n
		}
		before := counts()
		r.exec(t, insert)
		after := counts()
		return after[0] - before[0], after[1] - before[1]
	}
	for _, insert := range []string{
		"INSERT INTO DB.metric_points (run_id, metric, value) VALUES ('r', 'loss', 1)",
		"INSERT INTO DB.otel_traces (Timestamp, SpanName) VALUES (now64(9), 'step')",
		"INSERT INTO DB.otel_logs (Timestamp, Body) VALUES (now64(9), 'line')",
		"INSERT INTO DB.run_events (event_time, event) VALUES (now64(9), 'rl.checkpoint')",
		"INSERT INTO DB.otel_traces_trace_id_ts (TraceId) VALUES ('a')",
	} {
		files, directories := synced(insert)
		assert.GreaterOrEqual(t, files, 2, "data and marks")
		assert.Positive(t, directories)
	}
	r.exec(t, "ALTER TABLE DB.metric_points MODIFY SETTING fsync_after_insert = 0, fsync_part_directory = 0")
	files, _ := synced("INSERT INTO DB.metric_points (run_id, metric, value) VALUES ('r', 'loss', 2)")
	assert.Zero(t, files)
}
