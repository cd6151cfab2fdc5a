package main

import (
	"github.com/pitwall-otel/pitwall/dashboards/internal/query"
	"github.com/pitwall-otel/pitwall/schema/names"
)

// idle counts GPUs that do next to nothing now; NULL when no GPU said anything.
func idle(use query.Sampled) string {
	use.Value = "if(value < 5, 1, 0)"
	return use.LastAll("sum")
}

// byHost is the rate of a counter, added up over the GPUs of each machine.
func byHost(template string) string {
	c := countedByGPU(template)
	c.Line = "host"
	return c.Rate()
}

// idlePerStep takes the GPUs that the receiver found processes of a run on, and the steps of that run. What a step says comes
// with its end, so idle time belongs to the step that ended next, but for the
// time between two attempts, which belongs to none.
func idlePerStep() string {
	c := countedByGPU(names.TableSysGPURLDeviceIndexIdleS).With("run_id != ''", query.AllOr("run_id", "run_id"))
	c.Line = "run_id"
	return query.Text(`
WITH
steps AS
(
    SELECT run_id AS series, step AS at, min(event_time) AS ended
    FROM {points}
    WHERE run_id != '' AND {runs}
      AND {metric}
      AND {time}
    GROUP BY series, at
),
ends AS
(
    SELECT
        series, at, ended,
        dateDiff('second', lagInFrame(ended, 1, ended) OVER (PARTITION BY series ORDER BY ended ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), ended) AS took
    FROM steps
),
(SELECT 10 * median(took) FROM ends WHERE took > 0) AS longest,
idle AS
({increases}
),
ifNull((SELECT greatest(1, intDiv(max(at) - min(at), 1000)) FROM ends), 1) AS width
SELECT intDiv(at, width) * width AS step, idle.series AS series, sumIf(increase, seconds IS NOT NULL) / width AS value
FROM idle
ASOF INNER JOIN ends ON ends.series = idle.series AND idle.event_time <= ends.ended
WHERE longest IS NULL OR dateDiff('second', idle.event_time, ended) <= longest
GROUP BY step, series
ORDER BY step, series`,
		"increases", c.Increases(), "points", query.Points, "runs", query.AllOr("run_id", "run_id"),
		"metric", query.Any(names.TableLoss, names.RLStepDuration), "time", query.InTime)
}

// throttled is a row per GPU and reason, of those that held the clocks down at all.
func throttled() string {
	c := query.Counter{
		Metric: query.AnyOf(names.TableSysGPURLDeviceIndexThrottleNvidiaGPUThrottleReasonS), Where: []string{query.OfHosts()},
		Line: "concat(" + gpu + ", ' ', extract(metric, 'throttle[.](.*)_s$'))",
	}
	return query.Text(`
SELECT substring(series, 1, length(series) - position(reverse(series), ' ')) AS gpu, arrayElement(splitByChar(' ', series), -1) AS reason, value AS seconds
FROM
(
{total}
)
WHERE value > 0
ORDER BY seconds DESC
LIMIT 200`, "total", c.Total())
}

// gpuErrors is a row per GPU and kind of error that was ever counted. A counter may begin with its first error, so what is new
// cannot be told from what is old at the first look: both numbers stand there.
func gpuErrors() string {
	return query.Text(`
SELECT
    {gpu} AS gpu,
    extract(metric, '^sys[.]gpu[.][0-9]+[.](.*)$') AS error,
    argMax(value, event_time) AS "in all",
    greatest(0, "in all" - min(value)) AS "new",
    max(event_time) AS seen
FROM {points}
WHERE {hosts}
      AND ({xid} OR {ecc} OR {nvlink})
      AND {time}
GROUP BY gpu, error
HAVING "in all" > 0
ORDER BY "new" DESC, "in all" DESC
LIMIT 200`,
		"gpu", gpu, "points", query.Points, "hosts", query.OfHosts(), "time", query.InTime,
		"xid", query.AnyOf(names.TableSysGPURLDeviceIndexXidNvidiaGPUXid),
		"ecc", query.AnyOf(query.Fill(names.TableSysGPURLDeviceIndexEccNvidiaGPUEccCounterErrorType, names.AttributeNvidiaGPUEccCounter, "volatile")),
		"nvlink", query.AnyOf(names.TableSysGPURLDeviceIndexNvlinkErrorsNvidiaGPUNvlinkError))
}
