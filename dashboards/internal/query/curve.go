package query

import "strings"

// Curve is a metric of training: points with a step, of one or many ranks, which are averaged.
type Curve struct {
	Metric string   // condition on the metric
	Line   string   // SQL text that names the line, of the run and of tags; ByRun
	Where  []string // further conditions, on tags
	Value  string   // SQL number, by default the column value
	Over   string   // aggregate over ranks and over steps too close to be drawn apart, by default avg
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

// counted are the points that count. Tags are looked into once for each that differ, because a text is cheaper to compare than
// to take apart. limits says until which step an attempt counts: a later attempt's first. The rows say it, nobody else has to.
// A step of 0 is no step.
const counted = `
limits AS
(
    SELECT
        run_id, tags_json, line, attempt,
        minOrNull(begin) OVER (PARTITION BY run_id, line ORDER BY attempt DESC RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until
    FROM
    (
        SELECT run_id, tags_json, {line} AS line, {attempt} AS attempt, begin
        FROM
        (
            SELECT run_id, tags_json, minOrNullIf(step, step > 0) AS begin
            FROM {points}
            WHERE {rows}
            GROUP BY run_id, tags_json
        )
        WHERE {tags}
    )
),
counted AS
(
    SELECT line, attempt, at, event_time, y
    FROM
    (
        SELECT run_id, tags_json, step AS at, event_time, {value} AS y
        FROM {points}
        WHERE {rows}
    ) AS p
    INNER JOIN limits ON limits.run_id = p.run_id AND limits.tags_json = p.tags_json
    WHERE {all} OR until IS NULL OR at = 0 OR at < until
)`

// OverSteps gives step, series and value, at most about a thousand steps apart evenly.
func (c Curve) OverSteps() string {
	return c.fill(`
WITH
(SELECT greatest(1, intDiv(max(step) - min(step), 1000)) FROM {points} WHERE {rows}) AS width,` + counted + `
SELECT
    intDiv(at, ifNull(width, 1)) * ifNull(width, 1) AS step,
    concat(line, if({all}, concat(' attempt ', toString(attempt)), '')) AS series,
    {combined} AS value
FROM counted
GROUP BY step, series
ORDER BY step, series`)
}

// OverTime gives time, series and value.
func (c Curve) OverTime() string {
	return c.fill(`
WITH` + counted + `
SELECT
    $__timeInterval(event_time) AS time,
    concat(line, if({all}, concat(' attempt ', toString(attempt)), '')) AS series,
    {combined} AS value
FROM counted
GROUP BY time, series
ORDER BY time, series`)
}

// Last gives series and value: of each line the points with the highest step of the latest attempt, those of several ranks,
// layers or whatever else the line does not tell apart taken together as in the curve.
func (c Curve) Last() string {
	return c.fill(`
SELECT line AS series, {over}OrNull(latest) AS value
FROM
(
    SELECT line, latest, at, max(at) OVER (PARTITION BY line) AS newest
    FROM
    (
        SELECT {line} AS line, ({attempt}, highest) AS at, latest
        FROM
        (
            SELECT run_id, tags_json, max(step) AS highest, argMaxOrNullIf({value}, (step, event_time), isFinite({value})) AS latest
            FROM {points}
            WHERE {rows}
            GROUP BY run_id, tags_json, host, rank
        )
        WHERE {tags}
    )
)
WHERE at = newest
GROUP BY series
ORDER BY series`)
}

func (c Curve) fill(template string) string {
	value, combined := c.Value, "{over}OrNullIf(y, isFinite(y))"
	if value == "" {
		value = "value"
	}
	over := c.Over
	switch over {
	case "":
		over = "avg"
	case "sum": // over the ranks of a step, and the mean of the steps
		combined = "sumOrNullIf(y, isFinite(y)) / uniqExact(at)"
	}
	return Text(template,
		"combined", combined, "line", c.Line, "value", value, "over", over, "attempt", Attempt, "points", Points,
		"all", "'${attempt:percentencode}' = 'all'", "rows", All(OfRuns(), c.Metric, InTime), "tags", All(append([]string{"1"}, c.Where...)...))
}

// Text puts values in the place of names in braces, pairs of name and value, and removes the margins.
func Text(template string, pairs ...string) string {
	return strings.TrimSpace(Fill(template, pairs...))
}
