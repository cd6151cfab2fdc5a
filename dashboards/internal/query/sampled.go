package query

import "strconv"

// Sampled is a metric that is read every some seconds, of machines and engines: it has no step.
type Sampled struct {
	Metric string   // condition on the metric
	Line   string   // SQL text that names the line
	Where  []string // conditions, the run or the host first
	Value  string   // SQL number, by default the column value
	Within string   // aggregate over a line's points that are closer than the panel can show, by default avg
}

// With takes only rows that fulfil the conditions.
func (s Sampled) With(conditions ...string) Sampled {
	s.Where = append(append([]string{}, s.Where...), conditions...)
	return s
}

// OverTime gives time, series and value.
func (s Sampled) OverTime() string {
	return s.fill(`
SELECT
    $__timeInterval(event_time) AS time,
    {line} AS series,
    {within}OrNullIf({value}, isFinite({value})) AS value
FROM {points}
WHERE {where}
GROUP BY time, series
ORDER BY time, series`)
}

// Summed gives time, series and value: the mean of each source in the interval, added up over the sources of a line. by
// names a source in SQL.
func (s Sampled) Summed(by string) string {
	return s.fill(`
SELECT time, series, sum(one) AS value
FROM
(
    SELECT
        $__timeInterval(event_time) AS time,
        {line} AS series,
        {by} AS source,
        {within}OrNullIf({value}, isFinite({value})) AS one
    FROM {points}
    WHERE {where}
    GROUP BY time, series, source
)
GROUP BY time, series
ORDER BY time, series`, "by", by)
}

// Spread gives time and the columns least, median and most: over the lines, of each line's mean in the interval. For many
// lines it says more than the lines do.
func (s Sampled) Spread() string {
	return s.fill(`
SELECT time, min(one) AS least, quantileExactOrNull(0.5)(one) AS median, max(one) AS most
FROM
(
    SELECT
        $__timeInterval(event_time) AS time,
        {line} AS series,
        {within}OrNullIf({value}, isFinite({value})) AS one
    FROM {points}
    WHERE {where}
    GROUP BY time, series
)
GROUP BY time
ORDER BY time`)
}

// Last gives series and value: each line's latest point.
func (s Sampled) Last() string {
	return s.fill(`
SELECT {line} AS series, argMaxOrNullIf({value}, event_time, isFinite({value})) AS value
FROM {points}
WHERE {where}
GROUP BY series
ORDER BY series`)
}

// Top gives series and value: the latest points of the n lines where they are highest.
func (s Sampled) Top(n int) string {
	return s.fill(`
SELECT {line} AS series, argMaxOrNullIf({value}, event_time, isFinite({value})) AS value
FROM {points}
WHERE {where}
GROUP BY series
ORDER BY value DESC
LIMIT {n}`, "n", strconv.Itoa(n))
}

// LastAll gives one value: aggregate over the latest points of all lines, NULL without any.
func (s Sampled) LastAll(aggregate string) string {
	return s.fill(`
SELECT {aggregate}OrNull(latest) AS value
FROM
(
    SELECT {line} AS series, argMaxOrNullIf({value}, event_time, isFinite({value})) AS latest
    FROM {points}
    WHERE {where}
    GROUP BY series
)`, "aggregate", aggregate)
}

func (s Sampled) fill(template string, pairs ...string) string {
	value, within := s.Value, s.Within
	if value == "" {
		value = "value"
	}
	if within == "" {
		within = "avg"
	}
	return Text(template, append(pairs, "line", s.Line, "value", value, "within", within, "points", Points,
		"where", All(append(append([]string{}, s.Where...), s.Metric, InTime)...))...)
}
