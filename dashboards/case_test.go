package dashboards

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/clickhouse"
	"github.com/pitwall-otel/pitwall/internal/enginetest"
)

// TestCases runs the text files of testdata/cases, which need no Go to be read or written; README.md there says how.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	engine := enginetest.Start(t)
	client, err := clickhouse.NewClient(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, engine.Endpoint(), "", nil)
	require.NoError(t, err)
	target := clickhouse.Target{Database: clickhouse.DefaultDatabase, Table: clickhouse.DefaultTable}
	require.NoError(t, clickhouse.Migrate(t.Context(), client, target))
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			for _, table := range []string{"metric_points", "otel_logs", "otel_traces", "otel_traces_trace_id_ts", "run_events"} {
				engine.Query("TRUNCATE TABLE training_observability." + table)
			}
			runCase(t, client, file)
		})
	}
}

// base is the moment that cases count from.
var base = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// block is a command of a case and the lines below it.
type block struct {
	line    int
	command string
	lines   []string
}

func runCase(t *testing.T, client *clickhouse.Client, file string) {
	t.Helper()
	var got [][]string
	for _, b := range readCase(t, file) {
		where := fmt.Sprintf("%s:%d: %s", file, b.line, b.command)
		word, rest, _ := strings.Cut(b.command, " ")
		switch word {
		case "points":
			insert(t, client, "metric_points", b.lines, pointRow)
		case "events":
			insert(t, client, "otel_logs", b.lines, eventRow)
		case "spans":
			insert(t, client, "otel_traces", b.lines, spanRow)
		case "eval":
			sql := strings.Join(b.lines, "\n")
			if panel, found := strings.CutPrefix(rest, "panel "); found {
				sql = panelSQL(t, panel)
			}
			rows, err := client.Query(t.Context(), sql, nil)
			require.NoError(t, err, "%s\n%s", where, sql)
			for _, row := range rows {
				for i := range row {
					row[i] = plain(row[i])
				}
			}
			got = rows
		case "expect":
			var want [][]string
			for _, line := range b.lines {
				var row []string
				for cell := range strings.SplitSeq(line, "|") {
					row = append(row, strings.TrimSpace(cell))
				}
				want = append(want, row)
			}
			assert.Equal(t, want, got, where)
		default:
			t.Fatalf("%s: want points, events, spans, eval or expect", where)
		}
	}
}

// plain is a cell as cases write it: NULL, and numbers of twelve digits, because binary fractions have no end.
func plain(cell string) string {
	if cell == "ᴺᵁᴸᴸ" {
		return "NULL"
	}
	if number, err := strconv.ParseFloat(cell, 64); err == nil && strings.Contains(cell, ".") {
		return strconv.FormatFloat(number, 'g', 12, 64)
	}
	return cell
}

func readCase(t *testing.T, file string) []block {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	var blocks []block
	scanner := bufio.NewScanner(f)
	for number := 1; scanner.Scan(); number++ {
		line := scanner.Text()
		switch trimmed := strings.TrimSpace(line); {
		case trimmed == "" || strings.HasPrefix(line, "#"):
		case line[0] != ' ':
			blocks = append(blocks, block{line: number, command: trimmed})
		default:
			require.NotEmpty(t, blocks, "%s:%d: a line without a command", file, number)
			last := &blocks[len(blocks)-1]
			last.lines = append(last.lines, trimmed)
		}
	}
	require.NoError(t, scanner.Err())
	return blocks
}

// insert writes one row for each line: an offset from base, then what row makes of the other words.
func insert(t *testing.T, client *clickhouse.Client, table string, lines []string, row func(at time.Time, words []string) map[string]any) {
	t.Helper()
	var body []byte
	for _, line := range lines {
		words := strings.Fields(line)
		offset, err := time.ParseDuration(strings.TrimPrefix(words[0], "+"))
		require.NoError(t, err, line)
		text, err := json.Marshal(row(base.Add(offset), words[1:]))
		require.NoError(t, err)
		body = append(append(body, text...), '\n')
	}
	require.NoError(t, client.Insert(t.Context(), "INSERT INTO training_observability."+table+" FORMAT JSONEachRow", nil, [][]byte{body}, ""))
}

const (
	millis = "2006-01-02 15:04:05.000"
	nanos  = "2006-01-02 15:04:05.000000000"
)

// pointRow reads METRIC VALUE and the columns and tags as key=value.
func pointRow(at time.Time, words []string) map[string]any {
	row := map[string]any{"event_time": at.Format(millis), "metric": words[0], "value": words[1]}
	tags := map[string]any{}
	for key, value := range pairs(words[2:]) {
		switch key {
		case "run":
			row["run_id"] = value
		case "host", "rank", "device", "step":
			row[key] = value
		default:
			tags[key] = value
		}
	}
	if len(tags) > 0 {
		text, _ := json.Marshal(tags)
		row["tags_json"] = string(text)
	}
	return row
}

// eventRow reads NAME and attributes as key=value; those with "resource." before are the resource's. The name stands
// where contrib's exporter puts it, or with "attribute." before it where Pitwall's configuration does.
func eventRow(at time.Time, words []string) map[string]any {
	row := map[string]any{"Timestamp": at.Format(nanos), "EventName": words[0]}
	own, resource := attributes(words[1:])
	if name, found := strings.CutPrefix(words[0], "attribute."); found {
		row["EventName"] = ""
		own["event.name"] = name
	}
	row["LogAttributes"], row["ResourceAttributes"] = own, resource
	return row
}

// spanRow reads NAME DURATION and attributes as eventRow does.
func spanRow(at time.Time, words []string) map[string]any {
	duration, _ := time.ParseDuration(words[1])
	own, resource := attributes(words[2:])
	return map[string]any{
		"Timestamp": at.Format(nanos), "SpanName": words[0], "Duration": duration.Nanoseconds(), "SpanAttributes": own, "ResourceAttributes": resource,
		"TraceId": own["trace"], "SpanId": own["span"],
	}
}

func attributes(words []string) (own, resource map[string]string) {
	own, resource = map[string]string{}, map[string]string{}
	for key, value := range pairs(words) {
		if name, found := strings.CutPrefix(key, "resource."); found {
			resource[name] = value
		} else {
			own[key] = value
		}
	}
	return own, resource
}

// pairs reads key=value; "\s" in a value is a space.
func pairs(words []string) map[string]string {
	found := map[string]string{}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		found[key] = strings.ReplaceAll(value, `\s`, " ")
	}
	return found
}

var panelLine = regexp.MustCompile(`^(\S+) (\S+) "([^"]+)"(.*)$`)
