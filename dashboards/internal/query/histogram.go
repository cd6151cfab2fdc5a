package query

import (
	"strings"

	"github.com/pitwall-otel/pitwall/schema/names"
)

// Histogram is a metric whose rows NAME.bucket hold what fell into each bucket since the row before, with the bucket's upper
// bound as the tag le.
type Histogram struct {
	Metric string   // the histogram's name in the table
	Line   string   // SQL text that names the line
	Where  []string // conditions, the run or the host first
}

// With takes only rows that fulfil the conditions.
func (h Histogram) With(conditions ...string) Histogram {
	h.Where = append(append([]string{}, h.Where...), conditions...)
	return h
}

// le is the upper bound of a bucket's row as a number.
const le = "toFloat64OrNull(JSONExtractString(tags_json, 'le'))"

// Percentiles gives time, series and value for shares such as 0.5: the line's name and then p50. As Prometheus does it, values
// are taken to lie evenly in their bucket, and one beyond the last bound to be that bound. Empty buckets have no row, so
// where a bucket begins is known from all that were seen in the panel's time, of the same program: another one has other
// bounds.
func (h Histogram) Percentiles(shares ...string) string {
	return h.fill(`
WITH
buckets AS
(
    SELECT
        $__timeInterval(event_time) AS time, {line} AS line, {layout} AS layout, assumeNotNull({le}) AS bound, sum(value) AS n
    FROM {points}
    WHERE {where} AND isNotNull({le})
    GROUP BY time, line, layout, bound
    HAVING n > 0
),
layouts AS
(
    SELECT layout, arraySort(groupUniqArray(bound)) AS bounds
    FROM buckets
    GROUP BY layout
),
sides AS
(
    SELECT time, line, bound AS upper, n, arrayLast(b -> b < upper, bounds) AS lower
    FROM buckets
    INNER JOIN layouts ON layouts.layout = buckets.layout
)
SELECT
    time,
    trimLeft(concat(line, ' p', toString(round(share * 100, 1)))) AS series,
    if(isInfinite(top), bottom, bottom + (top - bottom) * (wanted - (sums[i] - counts[i])) / counts[i]) AS value
FROM
(
    SELECT
        time,
        line,
        arraySort(groupArray((upper, lower, n))) AS sorted,
        tupleElement(sorted, 3) AS counts,
        arrayCumSum(counts) AS sums,
        arrayJoin([{shares}]) AS share,
        share * arrayElement(sums, -1) AS wanted,
        greatest(1, arrayFirstIndex(c -> c >= wanted, sums)) AS i,
        tupleElement(sorted[i], 1) AS top,
        tupleElement(sorted[i], 2) AS bottom
    FROM sides
    GROUP BY time, line
)
ORDER BY time, series`, "shares", strings.Join(shares, ", "), "layout", Tag(names.AttributeGenAIProviderName))
}

// Buckets gives time, series (the bucket's upper bound, padded so that it sorts) and value (how many fell into the bucket).
func (h Histogram) Buckets() string {
	return h.fill(`
SELECT
    $__timeInterval(event_time) AS time,
    if(isInfinite(assumeNotNull({le}) AS bound), 'more', printf('%010.3f', bound)) AS series,
    sum(value) AS value
FROM {points}
WHERE {where} AND isNotNull({le})
GROUP BY time, series
ORDER BY time, series`)
}

func (h Histogram) fill(template string, pairs ...string) string {
	return Text(template, append(pairs, "le", le, "line", h.Line, "points", Points,
		"where", All(append(append([]string{}, h.Where...), Is(h.Metric+".bucket"), InTime)...))...)
}
