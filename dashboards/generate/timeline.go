package main

import (
	"fmt"
	"strings"

	"github.com/pitwall-otel/pitwall/dashboards/internal/board"
	"github.com/pitwall-otel/pitwall/dashboards/internal/query"
	"github.com/pitwall-otel/pitwall/schema/names"
)

// phases in the order of a step, with a colour each. Numbers stand for them in the timeline.
func phases() []board.Named {
	return board.Numbered([]string{
		"rollout", "tool_call", "env_step", "reward", "ref_logprob", "old_logprob", "value", "advantage", "actor_update", "critic_update",
		"optimizer", "weight_sync", "engine_sleep", "engine_wake", "eval", "checkpoint_save", "checkpoint_load", "data_load", "setup",
		"wait", "idle", "other",
	}, []string{
		"semi-dark-blue", "light-blue", "super-light-blue", "purple", "light-purple", "semi-dark-purple", "super-light-purple",
		"dark-purple", "semi-dark-green", "light-green", "dark-green", "orange", "dark-orange", "light-orange", "yellow", "dark-yellow",
		"light-yellow", "super-light-green", "super-light-orange", "dark-red", "semi-dark-red", "gray",
	})
}

// phaseNumber turns a span's phase into its number; what has no phase of the list is other.
func phaseNumber(phase string) string {
	var texts, numbers []string
	for _, p := range phases() {
		texts, numbers = append(texts, query.Quote(p.Text)), append(numbers, p.Value)
	}
	return fmt.Sprintf("transform(%s, [%s], [%s], %s)", phase, strings.Join(texts, ", "), strings.Join(numbers, ", "), numbers[len(numbers)-1])
}

const (
	spanRun   = "if(SpanAttributes['rl.run.id'] != '', SpanAttributes['rl.run.id'], ResourceAttributes['rl.run.id'])"
	spanPhase = "SpanAttributes['rl.phase']"
	spanRole  = "if(SpanAttributes['rl.role'] != '', SpanAttributes['rl.role'], ResourceAttributes['rl.role'])"
	spanRank  = "multiIf(SpanAttributes['rl.rank.global'] != '', SpanAttributes['rl.rank.global'], ResourceAttributes['rl.rank.global'] != '', ResourceAttributes['rl.rank.global'], SpanAttributes['rl.rank'] != '', SpanAttributes['rl.rank'], ResourceAttributes['rl.rank'])"
	spanLane  = "if(SpanAttributes['rl.lane'] != '', SpanAttributes['rl.lane'], concat({role}, '/', leftPad({rank}, 4, '0')))"
)

func fillSpans(template string, pairs ...string) string {
	ofRuns := spanRun + " IN (" + query.Chosen("run_id") + ")"
	return query.Text(template, append(pairs, "lane", spanLane, "role", spanRole, "rank", spanRank, "run", spanRun, "phase", spanPhase,
		"runs", ofRuns, "table", "training_observability.otel_traces",
		"time", "$__timeFilter(Timestamp)", "roles", query.AllOr("role", spanRole))...)
}

func timeline() *board.Board {
	b := board.New("timeline", "Timeline", "What each process of the chosen runs does, from traces: phases in lanes, the slowest spans, what is open and since when.",
		runs(), board.WithAll(board.Choice("role", "Role", fillSpans(`
SELECT `+query.VariableValue("text")+` AS value, {role} AS text
FROM {table}
WHERE {runs} AND {time}
GROUP BY text
HAVING text != ''
ORDER BY text
LIMIT 100`))), board.Input("trace_id", "Trace"))
	events(b)
	b.Refresh("now-15m", "30s")
	b.Row("Lanes", board.Lanes(board.Text{
		Title: "Phases by lane", Unit: "none",
		About: "The phase that each lane (role and rank) spent most of each interval in, from the spans that have a phase. A hole is time in no phase. Twenty lanes stand on a page.",
	}, lanes(), phases()...).Size(24, 16).Every("1s"))
	b.Row("Time of phases",
		board.OverTime(board.Text{Title: "Time of phases", About: "Mean time that a phase took, over lanes, from spans.", Unit: "s"}, phaseTimes("avg")).Phases(phases()).Joined(60000).FromZero(),
		board.OverTime(board.Text{Title: "Slowest lane over the median", About: "Time of the slowest lane over that of the median lane, by phase, for phases of two lanes or more: 1 is even, 2 is a straggler of twice the time.", Unit: "short"}, stragglers()).Phases(phases()).Joined(60000).FromZero(),
		board.OverTime(board.Text{Title: "Share of phases", About: "How the time of all lanes divides over phases, of all time in phases.", Unit: "s"}, phaseTimes("sum")).Phases(phases()).Shares().Every("15s"),
	)
	b.Row("Open states", board.Table(board.Text{
		Title: "States that are open", Unit: "short",
		About: "States that began and did not end: which lane, in what, since when, and how long it usually takes (event rl.state, view run_state_events); a hang is at the top. since is not before the time of the dashboard. silent is the time since the process last said that it lives.",
	}, openStates()).
		Column("age", board.Unit("s")).Column("silent", append(board.Coloured(board.Green, board.Limit{From: 30, Colour: board.Yellow}, board.Limit{From: 120, Colour: board.Red}), board.Unit("s"))...).
		Column("over expected", append(board.Coloured(board.Green, board.Limit{From: 1.5, Colour: board.Yellow}, board.Limit{From: 3, Colour: board.Red}), board.Digits(1), board.Unit("suffix:x"))...).Size(24, 8))
	b.Row("Slowest spans", board.Table(board.Text{
		Title: "Slowest spans", Unit: "short",
		About: "The longest spans of the time; the trace id opens the trace below.",
	}, slowest()).
		Column("duration", append(board.OwnBar(), board.Unit("s"))...).
		Column("trace", board.Linked("Show the trace", "/d/pitwall-timeline?var-trace_id=${__data.fields.trace:percentencode}&${run_id:queryparam}&${__url_time_range}")))
	b.Row("Trace", board.Trace(board.Text{
		Title: "Trace", Unit: "none",
		About: "The spans of one trace: choose one in the table above, or enter its id in the variable Trace. Without a choice it is the latest of the runs.",
	}, trace()))
	return b
}

// lanes samples: the server says for each lane and interval which phase took most of it. It sends what the panel can show,
// whatever the number of spans. A state lasts until the next row, so the end of one that nothing follows is a row of its own,
// and time in no phase is a hole.
func lanes() string {
	return fillSpans(`
WITH
spans AS
(
    SELECT
        concat(if({several}, concat({run}, ' '), ''), {lane}) AS series,
        {number} AS number,
        toUnixTimestamp64Milli(Timestamp) AS began,
        began + intDiv(Duration, 1000000) AS ended
    FROM {table}
    WHERE {runs}
      AND Timestamp >= $__fromTime - INTERVAL 1 HOUR AND Timestamp <= $__toTime
      AND {phase} != ''
      AND {roles}
      AND ended >= toUnixTimestamp64Milli($__fromTime_ms)
),
cells AS
(
    SELECT
        series,
        number,
        arrayJoin(range(intDiv(greatest(began, toUnixTimestamp64Milli($__fromTime_ms)), 1000 * $__interval_s), intDiv(ended, 1000 * $__interval_s) + 1)) AS cell,
        least(ended, (cell + 1) * 1000 * $__interval_s) - greatest(began, cell * 1000 * $__interval_s) AS inside
    FROM spans
),
shares AS
(
    SELECT series, cell, number, sum(inside) AS inside
    FROM cells
    WHERE cells.inside > 0
    GROUP BY series, cell, number
),
filled AS
(
    SELECT series, cell, argMax(number, inside) AS number
    FROM shares
    GROUP BY series, cell
)
SELECT toDateTime(tupleElement(item, 1) * $__interval_s) AS time, series, tupleElement(item, 2) AS value
FROM
(
    SELECT
        series,
        arrayJoin(if(
            leadInFrame(cell) OVER w = cell + 1,
            [(cell, toNullable(toFloat64(number)))],
            [(cell, toNullable(toFloat64(number))), (cell + 1, NULL)]
        )) AS item
    FROM filled
    WINDOW w AS (PARTITION BY series ORDER BY cell ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING)
)
WHERE time <= $__toTime
ORDER BY time, series`, "several", query.Several("run_id"), "number", phaseNumber(spanPhase))
}

func phaseTimes(aggregate string) string {
	return fillSpans(`
SELECT $__timeInterval(Timestamp) AS time, {phase} AS series, ` + aggregate + `(Duration) / 1e9 AS value
FROM {table}
WHERE {runs} AND {time} AND series != '' AND {roles}
GROUP BY time, series
ORDER BY time, series`)
}

// stragglers compares lanes of one role in one step.
func stragglers() string {
	return fillSpans(`
SELECT $__timeInterval(moment) AS time, series, max(slowest / nullIf(middle, 0)) AS value
FROM
(
    SELECT run, series, one_role, step, min(moment) AS moment, max(seconds) AS slowest, quantileExact(0.5)(seconds) AS middle
    FROM
    (
        SELECT
            {run} AS run, {phase} AS series, {role} AS one_role, SpanAttributes['rl.step'] AS step, {lane} AS one_lane,
            min(Timestamp) AS moment, sum(Duration) / 1e9 AS seconds
        FROM {table}
        WHERE {runs} AND {time} AND series != '' AND {roles}
        GROUP BY run, series, one_role, step, one_lane
    )
    GROUP BY run, series, one_role, step
    HAVING count() >= 2
)
GROUP BY time, series
ORDER BY time, series`)
}

// openStates have no end in the time, and were heard of in it: an open state says so every ten seconds.
func openStates() string {
	return query.Text(`
SELECT
    run_id AS run,
    any(lane) AS lane,
    any(host) AS host,
    any(state) AS state,
    any(phase) AS phase,
    max(step) AS step,
    dateDiff('second', min(event_time), least(now64(3), $__toTime_ms)) AS age,
    age / nullIf(max(expected_seconds), 0) AS "over expected",
    dateDiff('second', max(event_time), least(now64(3), $__toTime_ms)) AS silent,
    min(event_time) AS since
FROM training_observability.run_state_events
WHERE {runs} AND {time}
GROUP BY run, attempt, state_id
HAVING countIf(op = 'end') = 0
ORDER BY age DESC
LIMIT 500`, "runs", query.OfRuns(), "time", query.InTime)
}

func slowest() string {
	return fillSpans(`
SELECT
    Timestamp AS time,
    {run} AS run,
    {lane} AS lane,
    SpanName AS span,
    if(SpanAttributes['rl.state.name'] != '', SpanAttributes['rl.state.name'], {phase}) AS state,
    toUInt64OrNull(SpanAttributes['rl.step']) AS step,
    Duration / 1e9 AS duration,
    StatusCode AS status,
    TraceId AS trace
FROM {table}
WHERE {runs} AND {time} AND {roles} AND SpanName != {loop}
ORDER BY Duration DESC
LIMIT 100`, "loop", query.Quote(names.SpanRLLoop))
}

// trace gives the columns that the plugin makes a trace of; without a choice of the latest trace of the runs. The times of the
// trace are looked up first, so that a day is read and not all of them.
func trace() string {
	return fillSpans(`
WITH
{chosen} AS chosen,
if(chosen != '', chosen, (SELECT argMax(TraceId, Timestamp) FROM {table} WHERE {runs} AND {time})) AS wanted
SELECT
    TraceId AS traceID,
    SpanId AS spanID,
    ParentSpanId AS parentSpanID,
    ServiceName AS serviceName,
    SpanName AS operationName,
    toUnixTimestamp64Nano(Timestamp) / 1e6 AS startTime,
    Duration / 1e6 AS duration,
    arrayMap(key -> map('key', key, 'value', SpanAttributes[key]), mapKeys(SpanAttributes)) AS tags,
    arrayMap(key -> map('key', key, 'value', ResourceAttributes[key]), mapKeys(ResourceAttributes)) AS serviceTags,
    if(StatusCode IN ('Error', 'STATUS_CODE_ERROR'), 2, 0) AS statusCode
FROM {table}
WHERE TraceId = wanted
  AND Timestamp >= (SELECT min(Start) FROM training_observability.otel_traces_trace_id_ts WHERE TraceId = wanted)
  AND Timestamp <= (SELECT max(End) + 1 FROM training_observability.otel_traces_trace_id_ts WHERE TraceId = wanted)
ORDER BY startTime
LIMIT 10000`, "chosen", "decodeURLComponent('${trace_id:percentencode}')")
}
