package query

import "strings"

// Curve is a metric of training: points with a step, of one or many ranks, which are averaged.
type Curve struct {
	Metric string   // condition on the metric
	Line   string   // SQL text that names the line; ByRun
	Where  []string // further conditions
	Value  string   // SQL number, by default the column value
	Over   string   // aggregate over ranks and over what is too fine to be drawn, by default avg
}

// OfMetric is the curve of one metric, a line per run.
func OfMetric(metric string) Curve { return Curve{Metric: Is(metric), Line: ByRun()} }

// By makes a line for each value of the attributes.
func (c Curve) By(attributes ...string) Curve {
	var parts []string
	for _, attribute := range attributes {
		parts = append(parts, Tag(attribute))
	}
	c.Line = ByRun(parts...)
	return c
}

// With takes only rows that fulfil the conditions.
func (c Curve) With(conditions ...string) Curve {
	c.Where = append(append([]string{}, c.Where...), conditions...)
	return c
}

// Scaled multiplies the value.
func (c Curve) Scaled(expression string) Curve {
	c.Value = expression
	return c
}

// Taking uses another aggregate than avg: max, min, sum.
func (c Curve) Taking(aggregate string) Curve {
	c.Over = aggregate
	return c
}

// OverSteps gives step, series and value, at most about a thousand steps apart evenly.
func (c Curve) OverSteps() string {
	return c.fill(`
WITH per_step AS
(
    SELECT run_id, {line} AS line, {attempt} AS attempt, step AS at, {over}OrNullIf({value}, isFinite({value})) AS y
    FROM {points}
    WHERE {where}
    GROUP BY run_id, line, attempt, at
),
marked AS
(
    SELECT
        *,
        max(attempt) OVER (PARTITION BY run_id, line ORDER BY at RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS newest,
        greatest(1, intDiv(max(at) OVER () - min(at) OVER (), 1000)) AS width
    FROM per_step
)
SELECT
    intDiv(at, width) * width AS step,
    concat(line, if({all}, concat(' attempt ', toString(attempt)), '')) AS series,
    {over}(y) AS value
FROM marked
WHERE {all} OR attempt = newest
GROUP BY step, series
ORDER BY step, series`)
}

// OverTime gives time, series and value. A point without a step counts at its own time.
func (c Curve) OverTime() string {
	return c.fill(`
WITH per_step AS
(
    SELECT
        run_id, {line} AS line, {attempt} AS attempt, step AS at, min(event_time) AS moment,
        {over}OrNullIf({value}, isFinite({value})) AS y
    FROM {points}
    WHERE {where}
    GROUP BY run_id, line, attempt, at, if(step = 0, event_time, toDateTime64(0, 3))
),
marked AS
(
    SELECT
        *,
        max(attempt) OVER (PARTITION BY run_id, line ORDER BY at RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS newest
    FROM per_step
)
SELECT
    $__timeInterval(moment) AS time,
    concat(line, if({all}, concat(' attempt ', toString(attempt)), '')) AS series,
    {over}(y) AS value
FROM marked
WHERE {all} OR attempt = newest
GROUP BY time, series
ORDER BY time, series`)
}

// Last gives series and value: of each line the point with the highest step of the latest attempt.
func (c Curve) Last() string {
	return c.fill(`
SELECT {line} AS series, argMaxOrNullIf({value}, ({attempt}, step, event_time), isFinite({value})) AS value
FROM {points}
WHERE {where}
GROUP BY series
ORDER BY series`)
}

func (c Curve) fill(template string) string {
	value, over := c.Value, c.Over
	if value == "" {
		value = "value"
	}
	if over == "" {
		over = "avg"
	}
	return Text(template,
		"line", c.Line, "value", value, "over", over, "attempt", Attempt, "points", Points,
		"all", "'${attempt:percentencode}' = 'all'", "where", All(append([]string{OfRuns(), c.Metric, InTime}, c.Where...)...))
}

// Text puts values in the place of names in braces, pairs of name and value, and removes the margins.
func Text(template string, pairs ...string) string {
	return strings.TrimSpace(Fill(template, pairs...))
}
