package dashboards

import (
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/dashboards/internal/lint"
)

// panelSQL finds the query of FILE TYPE "TITLE" and puts in the variables that follow as name=value; several values are
// parted by commas. The time is an hour before base to an hour after it, the interval a minute unless interval=SECONDS.
func panelSQL(t *testing.T, line string) string {
	t.Helper()
	m := panelLine.FindStringSubmatch(line)
	require.NotNil(t, m, "want FILE TYPE \"TITLE\" in %q", line)
	text, err := os.ReadFile(m[1])
	require.NoError(t, err)
	b, err := lint.Parse(m[1], text)
	require.NoError(t, err)
	p := b.Find(m[2], m[3])
	require.NotNil(t, p, "%s has no %s %q", m[1], m[2], m[3])
	return expand(p.Targets[0].RawSQL, pairs(strings.Fields(m[4])))
}

// expand does what Grafana and its ClickHouse plugin do, for what the dashboards use. test/panels holds the same to the
// plugin's own words.
func expand(sql string, variables map[string]string) string {
	interval := "60"
	if seconds, set := variables["interval"]; set {
		interval = seconds
	}
	from, to := base.Add(-time.Hour), base.Add(time.Hour)
	unix := func(at time.Time) string { return "toDateTime('" + at.Format(time.DateTime) + "')" }
	milli := func(at time.Time) string { return "toDateTime64('" + at.Format(millis) + "', 3)" }
	sql = macroOf(sql, "$__timeFilter", func(column string) string {
		return column + " >= " + unix(from) + " AND " + column + " <= " + unix(to)
	})
	sql = macroOf(sql, "$__timeInterval", func(column string) string {
		return "toStartOfInterval(toDateTime(" + column + "), INTERVAL " + interval + " second)"
	})
	replace := []string{
		"$__fromTime_ms", milli(from), "$__toTime_ms", milli(to), "$__fromTime", unix(from), "$__toTime", unix(to), "$__interval_s", interval,
	}
	for _, name := range []string{"run_id", "attempt", "host", "engine", "role", "checkpoint", "trace_id"} {
		value, set := variables[name]
		switch values := strings.Split(value, ","); {
		case !set && name == "trace_id":
		case !set && name == "attempt":
			value = "latest"
		case !set:
			value = "%2A"
		case len(values) == 1:
			value = strict(strict(value))
		default:
			for i := range values {
				values[i] = strict(values[i])
			}
			value = strict("{" + strings.Join(values, ",") + "}")
		}
		replace = append(replace, "${"+name+":percentencode}", value)
	}
	return strings.NewReplacer(replace...).Replace(sql)
}

// strict encodes as JavaScript's encodeURIComponent and !'()* as well.
func strict(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// macroOf replaces name(argument), whose argument has no parentheses.
func macroOf(sql, name string, with func(string) string) string {
	for {
		before, rest, found := strings.Cut(sql, name+"(")
		if !found {
			return sql
		}
		argument, after, _ := strings.Cut(rest, ")")
		sql = before + with(argument) + after
	}
}
