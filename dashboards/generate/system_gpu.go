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

func idleTime() string {
	c := countedByGPU(names.TableSysGPURLDeviceIndexIdleS)
	c.Line = "host"
	return c.Rate()
}

// idlePerStep is of all runs, or of those that are chosen.
func idlePerStep() string {
	return query.Text(`
SELECT $__timeInterval(moment) AS time, phase AS series, sum(idle) AS value
FROM
(
    SELECT run_id, step, {phase} AS phase, min(event_time) AS moment, sum(value) AS idle
    FROM {points}
    WHERE {runs}
      AND {metric}
      AND {time}
    GROUP BY run_id, step, phase
)
GROUP BY time, series
ORDER BY time, series`,
		"phase", "if("+query.Tag(names.AttributeRLPhase)+" = '', 'unknown', "+query.Tag(names.AttributeRLPhase)+")", "points", query.Points,
		"runs", query.AllOr("run_id", "run_id"), "metric", query.Is(names.TableGPUIdleS), "time", query.InTime)
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
    argMax(value, event_time) AS "since the driver started",
    greatest(0, "since the driver started" - min(value)) AS "new in the time",
    max(event_time) AS seen
FROM {points}
WHERE {hosts}
      AND ({xid} OR {ecc} OR {nvlink})
      AND {time}
GROUP BY gpu, error
HAVING "since the driver started" > 0
ORDER BY "new in the time" DESC, "since the driver started" DESC
LIMIT 200`,
		"gpu", gpu, "points", query.Points, "hosts", query.OfHosts(), "time", query.InTime,
		"xid", query.AnyOf(names.TableSysGPURLDeviceIndexXidNvidiaGPUXid),
		"ecc", query.AnyOf(query.Fill(names.TableSysGPURLDeviceIndexEccNvidiaGPUEccCounterErrorType, names.AttributeNvidiaGPUEccCounter, "volatile")),
		"nvlink", query.AnyOf(names.TableSysGPURLDeviceIndexNvlinkErrorsNvidiaGPUNvlinkError))
}
