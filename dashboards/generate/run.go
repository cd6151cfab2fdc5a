package main

import (
	"github.com/pitwall-otel/pitwall/dashboards/internal/board"
	"github.com/pitwall-otel/pitwall/dashboards/internal/query"
	"github.com/pitwall-otel/pitwall/schema/names"
)

func run() *board.Board {
	b := board.New("run", "Run overview", "All runs of the time with their state, and the chosen ones side by side. Start here.",
		runs(), attempts())
	events(b)
	b.Row("Now",
		board.Number(board.Text{Title: "Runs alive", About: "Runs with a point in the last two minutes of the time (all metrics).", Unit: "none"}, countRuns("seen >= least(now(), $__toTime) - INTERVAL 2 MINUTE")).Lights(board.Blue),
		board.Number(board.Text{Title: "Runs", About: "Runs with a point in the time (all metrics).", Unit: "none"}, countRuns("1")),
		board.Number(board.Text{Title: "Runs that failed", About: "Runs that ended otherwise than well in the time (event rl.run.finished).", Unit: "none"}, failedRuns()).Lights(board.Green, board.Limit{From: 1, Colour: board.Red}),
		board.Number(board.Text{Title: "GPU use", About: "Mean of the latest utilisation of all GPUs, in percent (metrics sys.gpu.*.util_percent).", Unit: "percent"},
			query.Sampled{Metric: query.OfGPUs(names.TableSysGPURLDeviceIndexUtilPercent), Line: gpu}.LastAll("avg")).Lights(board.Red, board.Limit{From: 30, Colour: board.Yellow}, board.Limit{From: 70, Colour: board.Green}),
		board.Number(board.Text{Title: "Token/s", About: "Latest throughput of each chosen run in tokens per second, of the whole run, or per GPU where it reports nothing else (metric train.throughput).", Unit: "short"}, throughput().Last()),
		board.Number(board.Text{Title: "Reward", About: "Latest mean reward of each chosen run, by part of the reward and set of samples (metric rl.reward).", Unit: "short"}, query.OfMetric(names.RLReward).By(names.AttributeRLRewardName, names.AttributeRLSampleSet).With(mean()).Last()),
	)
	state := board.Mapped(
		board.Named{Value: "running", Text: "running", Colour: board.Green}, board.Named{Value: "stalled", Text: "stalled", Colour: board.Red},
		board.Named{Value: "silent", Text: "silent", Colour: board.Yellow},
		board.Named{Value: "finished", Text: "finished", Colour: board.Blue}, board.Named{Value: "failed", Text: "failed", Colour: board.Red},
		board.Named{Value: "crashed", Text: "crashed", Colour: board.Red}, board.Named{Value: "killed", Text: "killed", Colour: "orange"},
		board.Named{Value: "preempted", Text: "preempted", Colour: "orange"})
	b.Row("Runs", board.Table(board.Text{
		Title: "Runs", Unit: "short",
		About: "Every run with a point in the time: how it stands (event rl.run.finished; silent is two minutes without a point; stalled is no new step in metrics loss and rl.loss.policy for three times as long as steps take, and a minute at least), its highest step, time since the last new step, age of its last point, latest loss (metric loss), latest token/s of the run and per GPU, as it reports them (metric train.throughput), GPU use over the last ten minutes of its GPUs, or of its hosts' where nobody knows which are its own (metrics sys.gpu.*.util_percent).",
	}, runsTable()).
		Column("run_value", board.Hidden()).
		Column("run", board.Linked("Training", toRun("training")), board.Width(220)).
		Column("state", append(board.Filled(), state, board.Width(95))...).
		Column("step", board.Linked("Progress", toRun("progress")), board.Width(75)).
		Column("last step", board.Unit("s"), board.Width(95)).Column("age", board.Unit("s"), board.Width(85)).
		Column("loss", board.Width(90)).Column("token/s", board.Width(90)).Column("token/s per GPU", board.Width(125)).
		Column("GPU use", append(board.Coloured(board.Red, board.Limit{From: 30, Colour: board.Yellow}, board.Limit{From: 70, Colour: board.Green}), board.Unit("percent"), board.Width(90), board.Linked("System", toRun("system")))...).
		Column("hosts", board.Linked("System", toRun("system")), board.Width(70)).
		Column("lasted", board.Unit("dtdurations"), board.Width(110)).Column("began", board.Width(160)).
		Column("timeline", board.Linked("Timeline", toRun("timeline")), board.Width(85)).Size(24, 11))
	curves(b, "Comparison",
		curve{"Loss", "Loss that the optimiser minimised, mean over ranks (metric loss).", "short", query.OfMetric(names.TableLoss), nil},
		curve{"Reward", "Mean reward that the update used, by part of the reward and set of samples (metric rl.reward).", "short", query.OfMetric(names.RLReward).By(names.AttributeRLRewardName, names.AttributeRLSampleSet).With(mean()), nil},
		curve{"Token/s", "Tokens trained per second, of the whole run, or per GPU where the run reports nothing else (metric train.throughput by rl.phase).", "short", throughput(), fromZero},
		curve{"KL of the update", "KL divergence of the policy from itself before the update (metric rl.kl.old).", "short", query.OfMetric(names.RLKLOld).With(mean()), nil},
		curve{"Step time", "Wall time of a step, of the slowest rank (metric rl.step.duration).", "s", query.OfMetric(names.RLStepDuration).Taking("max"), fromZero},
		curve{"Length of answers", "Mean tokens of the generated answers (metric rl.response.length).", "short", query.OfMetric(names.RLResponseLength).By(names.AttributeRLSampleSet).With(mean()), fromZero},
	)
	b.Row("Events", board.Table(board.Text{
		Title: "Events of the runs", Unit: "short",
		About: "What happened to the chosen runs, the latest first: starts, resumes, ends, stalls, stragglers, values that are not finite, errors (view run_events).",
	}, runEvents()))
	return b
}

// lists asks for the very aggregates that the projection p_runs holds, so that no row of a point is read.
const lists = `
    SELECT run_id, metric, min(event_time) AS began, max(event_time) AS seen, max(step) AS highest, argMax(value, event_time) AS latest
    FROM training_observability.metric_points
    GROUP BY run_id, metric`

func countRuns(condition string) string {
	return query.Text(`
SELECT countIf({condition}) AS value
FROM
(
    SELECT run_id, min(began) AS began, max(seen) AS seen
    FROM
    ({lists}
    )
    WHERE run_id != ''
    GROUP BY run_id
    HAVING seen >= $__fromTime AND began <= $__toTime
)`, "condition", condition, "lists", lists)
}

func failedRuns() string {
	return query.Text(`
SELECT uniqExactIf((run_id, attempt), attributes['rl.run.status'] != 'finished') AS value
FROM training_observability.run_events
WHERE event = {finished} AND {time}`, "finished", query.Quote(names.EventRLRunFinished), "time", query.InTime)
}

// runsTable says that a run stalls as the alert rule pitwall-run-stalled does. Where too few steps were seen to know how long they
// take, two hours are too long.
func runsTable() string {
	return query.Text(`
WITH
runs AS
(
    SELECT
        run_id,
        min(l.began) AS began,
        max(l.seen) AS seen,
        max(l.highest) AS step,
        maxOrNullIf(l.seen, {stepping}) AS stepped,
        anyIf(toNullable(l.latest), metric = {loss}) AS loss
    FROM
    ({lists}
    ) AS l
    WHERE run_id != ''
    GROUP BY run_id
    HAVING seen >= $__fromTime AND began <= $__toTime
),
paces AS
(
    SELECT run_id, quantileExactIf(0.5)(gap, gap > 0) AS pace
    FROM
    (
        SELECT
            run_id,
            dateDiff('millisecond', lagInFrame(at, 1, at) OVER (PARTITION BY run_id ORDER BY at ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), at) / 1000 AS gap
        FROM
        (
            SELECT run_id, step, min(event_time) AS at
            FROM {points}
            WHERE run_id != '' AND {stepping} AND {mean} AND {time} AND step > 0
            GROUP BY run_id, step
        )
    )
    GROUP BY run_id
    HAVING count() > 3
),
ends AS
(
    SELECT run_id, argMax(attributes['rl.run.status'], event_time) AS status, max(event_time) AS ended
    FROM training_observability.run_events
    WHERE event = {finished} AND {time}
    GROUP BY run_id
),
speeds AS
(
    SELECT
        run_id,
        argMaxOrNullIf(value, ({phase} = '', event_time, step), {scope} != 'gpu') AS tokens,
        argMaxOrNullIf(value, ({phase} = '', event_time, step), {scope} = 'gpu') AS each
    FROM {points}
    WHERE run_id != '' AND metric = {throughput} AND {time} AND event_time >= $__toTime - INTERVAL 1 HOUR
    GROUP BY run_id
),
machines AS
(
    SELECT run_id, host
    FROM {points}
    WHERE run_id != '' AND host != '' AND {time} AND event_time >= $__toTime - INTERVAL 10 MINUTE
    GROUP BY run_id, host
),
gpus AS
(
    SELECT host, avg(value) AS busy
    FROM {points}
    WHERE {use} AND {time} AND event_time >= $__toTime - INTERVAL 10 MINUTE
    GROUP BY host
),
own AS
(
    SELECT run_id, avg(value) AS busy
    FROM {points}
    WHERE {use} AND run_id != '' AND {time} AND event_time >= $__toTime - INTERVAL 10 MINUTE
    GROUP BY run_id
),
uses AS
(
    SELECT run_id, count() AS hosts, avg(busy) AS busy
    FROM machines
    LEFT JOIN gpus ON gpus.host = machines.host
    GROUP BY run_id
)
SELECT
    r.run_id AS run,
    multiIf(
        ends.status IS NOT NULL AND ends.ended >= r.seen - INTERVAL 2 MINUTE, ends.status,
        r.seen < least(now(), $__toTime) - INTERVAL 2 MINUTE, 'silent',
        "last step" > greatest(60, 3 * ifNull(paces.pace, 2400)), 'stalled',
        'running'
    ) AS state,
    r.step AS step,
    dateDiff('second', r.stepped, least(now64(3), $__toTime_ms)) AS "last step",
    dateDiff('second', r.seen, least(now64(3), $__toTime_ms)) AS age,
    r.loss AS loss,
    speeds.tokens AS "token/s",
    speeds.each AS "token/s per GPU",
    coalesce(own.busy, uses.busy) AS "GPU use",
    uses.hosts AS hosts,
    dateDiff('second', r.began, r.seen) AS lasted,
    r.began AS began,
    'open' AS timeline,
    {link} AS run_value
FROM runs AS r
LEFT JOIN ends ON ends.run_id = r.run_id
LEFT JOIN paces ON paces.run_id = r.run_id
LEFT JOIN speeds ON speeds.run_id = r.run_id
LEFT JOIN own ON own.run_id = r.run_id
LEFT JOIN uses ON uses.run_id = r.run_id
ORDER BY r.seen DESC, r.run_id
LIMIT 500
SETTINGS join_use_nulls = 1`,
		"lists", lists, "loss", query.Quote(names.TableLoss), "finished", query.Quote(names.EventRLRunFinished), "time", query.InTime,
		"points", query.Points, "throughput", query.Quote(names.TableTrainThroughput), "scope", query.Tag(names.AttributeRLScope), "phase", query.Tag(names.AttributeRLPhase), "stepping", query.Any(names.TableLoss, names.RLLossPolicy), "mean", mean(),
		"use", query.OfGPUs(names.TableSysGPURLDeviceIndexUtilPercent), "link", query.VariableValue("r.run_id"))
}

func runEvents() string {
	return query.Text(`
SELECT
    event_time AS time, run_id AS run, attempt, event, step, host, role, rank,
    trimBoth(concat(attributes['rl.run.status'], attributes['rl.phase'], attributes['rl.checkpoint.id'], attributes['rl.milestone.name'], ' ', attributes['rl.event.metric'], ' ', attributes['error.message'])) AS what
FROM training_observability.run_events
WHERE {runs} AND {time} AND event IN ({events})
ORDER BY time DESC
LIMIT 500`, "runs", query.OfRuns(), "time", query.InTime, "events", quoted(
		names.EventRLRunStarted, names.EventRLRunResumed, names.EventRLRunFinished, names.EventRLNonfinite, names.EventRLStall,
		names.EventRLStraggler, names.EventRLError, names.EventRLQuotaExceeded, names.EventRLCheckpointSaved, names.EventRLMilestone))
}
