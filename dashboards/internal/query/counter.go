package query

// Counter is a metric that only grows until its source starts anew, of one or many sources.
type Counter struct {
	Metric string
	Line   string   // SQL text that names the line
	Where  []string // conditions, the run or the host first
}

// With takes only rows that fulfil the conditions.
func (c Counter) With(conditions ...string) Counter {
	c.Where = append(append([]string{}, c.Where...), conditions...)
	return c
}

// increases are the steps from a counter's point to its next, in value and in seconds. A source is what all of its identity
// is the same of. A smaller value than before is a new start and no increase.
const increases = `
    SELECT
        event_time,
        metric,
        {line} AS series,
        cityHash64(run_id, metric, host, rank, device, tags_json) AS source,
        lagInFrame(toNullable(value)) OVER w AS before,
        lagInFrame(toNullable(event_time)) OVER w AS since,
        if(value > before, value - before, 0) AS increase,
        dateDiff('millisecond', since, event_time) / 1000 AS seconds
    FROM {points}
    WHERE {where}
    WINDOW w AS (PARTITION BY source ORDER BY event_time ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)`

// Increases gives a row for each point, with what was added since the point before: event_time, metric, series, source, increase
// and seconds, NULL for the first point.
func (c Counter) Increases() string { return "\n    " + c.fill(increases) }

// Rate gives time, series and value: the increase per second, added up over the sources of a line.
func (c Counter) Rate() string {
	return c.fill(`
SELECT time, series, sum(rate) AS value
FROM
(
    SELECT $__timeInterval(event_time) AS time, series, source, sum(increase) / nullIf(sum(seconds), 0) AS rate
    FROM
    (` + increases + `
    )
    GROUP BY time, series, source
)
GROUP BY time, series
ORDER BY time, series`)
}

// Increase gives time, series and value: how much was added in each interval.
func (c Counter) Increase() string {
	return c.fill(`
SELECT $__timeInterval(event_time) AS time, series, sumIf(increase, seconds IS NOT NULL) AS value
FROM
(` + increases + `
)
GROUP BY time, series
ORDER BY time, series`)
}

// Total gives series and value: how much was added in the whole time.
func (c Counter) Total() string {
	return c.fill(`
SELECT series, sumOrNullIf(increase, seconds IS NOT NULL) AS value
FROM
(` + increases + `
)
GROUP BY series
ORDER BY value DESC`)
}

// TotalAll gives one value: how much was added by all in the whole time, NULL without any point.
func (c Counter) TotalAll() string {
	return c.fill(`
SELECT sumOrNull(increase) AS value
FROM
(` + increases + `
)`)
}

// Ratio gives time, series and value: in each interval, the increase of the rows that fulfil part over that of the others.
func (c Counter) Ratio(part string) string {
	return c.fill(`
SELECT $__timeInterval(event_time) AS time, series, sumIf(increase, part) / nullIf(sumIf(increase, NOT part), 0) AS value
FROM
(
    SELECT *, {part} AS part
    FROM
    (`+increases+`
    )
)
GROUP BY time, series
ORDER BY time, series`, "part", part)
}

func (c Counter) fill(template string, pairs ...string) string {
	return Text(template, append(pairs, "line", c.Line, "points", Points,
		"where", All(append(append([]string{}, c.Where...), c.Metric, InTime)...))...)
}
