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

// gpuErrors is a row per GPU and kind of error, of those that happened.
func gpuErrors() string {
	kinds := "(" + query.AnyOf(names.TableSysGPURLDeviceIndexXidNvidiaGPUXid) +
		" OR " + query.AnyOf(query.Fill(names.TableSysGPURLDeviceIndexEccNvidiaGPUEccCounterErrorType, "nvidia.gpu.ecc.counter", "volatile")) +
		" OR " + query.AnyOf(names.TableSysGPURLDeviceIndexNvlinkErrorsNvidiaGPUNvlinkError) + ")"
	c := query.Counter{
		Metric: kinds, Where: []string{query.OfHosts()},
		Line: "concat(" + gpu + `, ' ', extract(metric, '^sys[.]gpu[.][0-9]+[.](.*)$'))`,
	}
	return query.Text(`
SELECT substring(series, 1, length(series) - position(reverse(series), ' ')) AS gpu, arrayElement(splitByChar(' ', series), -1) AS error, value AS times
FROM
(
{total}
)
WHERE value > 0
ORDER BY times DESC
LIMIT 200`, "total", c.Total())
}
