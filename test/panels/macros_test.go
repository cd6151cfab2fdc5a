package panels

import (
	"fmt"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/data/sqlutil"
	"github.com/grafana/sqlds/v5"
)

// macros are those of the ClickHouse data source 4.19 and newer, as ../shared/samples/grafana-macro-vectors.txt shows them.
// Dashboards may use no others: what is not here stays in the SQL, and the engine refuses it.
func macros() sqlds.Macros {
	seconds := func(t time.Time) string { return fmt.Sprintf("toDateTime(%d)", t.Unix()) }
	millis := func(t time.Time) string { return fmt.Sprintf("fromUnixTimestamp64Milli(%d)", t.UnixMilli()) }
	date := func(t time.Time) string { return fmt.Sprintf("toDate('%s')", t.UTC().Format(time.DateOnly)) }
	between := func(of func(time.Time) string) sqlds.MacroFunc {
		return arguments(1, func(q *sqlutil.Query, args []string) string {
			return fmt.Sprintf("%[1]s >= %[2]s AND %[1]s <= %[3]s", args[0], of(q.TimeRange.From), of(q.TimeRange.To))
		})
	}
	dateAndTime := arguments(2, func(q *sqlutil.Query, args []string) string {
		return fmt.Sprintf("(%[1]s >= %[2]s AND %[1]s <= %[3]s) AND (%[4]s >= %[5]s AND %[4]s <= %[6]s)", args[0], date(q.TimeRange.From), date(q.TimeRange.To),
			args[1], seconds(q.TimeRange.From), seconds(q.TimeRange.To))
	})
	intervalSeconds := func(q *sqlutil.Query) int { return max(1, int(q.Interval.Seconds())) }
	return sqlds.Macros{
		"timeFilter":     between(seconds),
		"timeFilter_ms":  between(millis),
		"dateFilter":     between(date),
		"dateTimeFilter": dateAndTime,
		"dt":             dateAndTime,
		"timeInterval": arguments(1, func(q *sqlutil.Query, args []string) string {
			return fmt.Sprintf("toStartOfInterval(toDateTime(%s), INTERVAL %d second)", args[0], intervalSeconds(q))
		}),
		"timeInterval_ms": arguments(1, func(q *sqlutil.Query, args []string) string {
			return fmt.Sprintf("toStartOfInterval(toDateTime64(%s, 3), INTERVAL %d millisecond)", args[0], max(1, q.Interval.Milliseconds()))
		}),
		"interval_s":  plain(func(q *sqlutil.Query) string { return fmt.Sprint(intervalSeconds(q)) }),
		"fromTime":    plain(func(q *sqlutil.Query) string { return seconds(q.TimeRange.From) }),
		"toTime":      plain(func(q *sqlutil.Query) string { return seconds(q.TimeRange.To) }),
		"fromTime_ms": plain(func(q *sqlutil.Query) string { return millis(q.TimeRange.From) }),
		"toTime_ms":   plain(func(q *sqlutil.Query) string { return millis(q.TimeRange.To) }),
	}
}

func plain(expand func(*sqlutil.Query) string) sqlds.MacroFunc {
	return func(q *sqlutil.Query, _ []string) (string, error) { return expand(q), nil }
}

func arguments(want int, expand func(*sqlutil.Query, []string) string) sqlds.MacroFunc {
	return func(q *sqlutil.Query, args []string) (string, error) {
		if len(args) != want || args[0] == "" {
			return "", fmt.Errorf("%w: want %d, have %d", sqlutil.ErrorBadArgumentCount, want, len(args))
		}
		return expand(q, args), nil
	}
}
