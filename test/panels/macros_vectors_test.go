package panels

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana-plugin-sdk-go/data/sqlutil"
	"github.com/grafana/sqlds/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// vectorLine is `"SQL" => "expanded" err=<nil>`, header a line that gives the interval.
var (
	vectorLine = regexp.MustCompile(`^(".*") => (".*") err=(.*)$`)
	header     = regexp.MustCompile(`interval=(\S+)$`)
)

// left are inputs that dashboards may not use: what the data source expands beyond our macros, and comments.
var left = []string{"$__interval", "$__interval_ms", "$__timeFrom", "$__timeTo", "$__timeGroup", "--"}

// What the data source answers for its macros was recorded from the plugin, not written here.
func TestMacrosAnswerAsTheDataSource(t *testing.T) {
	file, err := os.Open(filepath.Join(root, "..", "shared", "samples", "grafana-macro-vectors.txt"))
	if os.IsNotExist(err) {
		t.Log("NOT COMPARED with the data source's recorded macros: ../shared/samples is absent")
		return
	}
	require.NoError(t, err)
	defer file.Close()
	from := time.Date(2026, 11, 20, 8, 0, 0, 123e6, time.UTC)
	var interval time.Duration
	compared := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if match := header.FindStringSubmatch(lines.Text()); match != nil {
			interval, err = time.ParseDuration(match[1])
			require.NoError(t, err)
			continue
		}
		match := vectorLine.FindStringSubmatch(lines.Text())
		require.NotNil(t, match, lines.Text())
		var sql, want string
		require.NoError(t, json.Unmarshal([]byte(match[1]), &sql))
		require.NoError(t, json.Unmarshal([]byte(match[2]), &want))
		if isLeft(sql) {
			continue
		}
		got, err := sqlds.Interpolate(driver{}, &sqlutil.Query{
			RawSQL: sql, Interval: interval, TimeRange: backend.TimeRange{From: from, To: from.Add(2 * time.Hour)},
		})
		compared++
		if match[3] != "<nil>" {
			assert.Error(t, err, sql)
			continue
		}
		assert.NoError(t, err, sql)
		assert.Equal(t, want, got, sql)
	}
	assert.Equal(t, 2*17, compared)
}

func isLeft(sql string) bool {
	for _, prefix := range left {
		if sql == prefix || strings.HasPrefix(sql, prefix+"(") || strings.HasPrefix(sql, "--") {
			return true
		}
	}
	return false
}
