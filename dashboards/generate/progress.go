package main

import (
	"strconv"

	"github.com/pitwall-otel/pitwall/dashboards/internal/board"
	"github.com/pitwall-otel/pitwall/dashboards/internal/query"
	"github.com/pitwall-otel/pitwall/schema/names"
)

func progress() *board.Board {
	b := board.New("progress", "Progress", "How far the chosen runs are: data bucket, tokens, and the time to each milestone (B1, B2, 3B, 8B, 70B, SFT and whatever else the run sets).",
		runs(), attempts())
	events(b)
	bucket := query.OfMetric(names.TableDataBucket)
	total := query.OfMetric(names.TableTrainTokensTotal).Taking("max")
	b.Row("Now",
		board.Number(board.Text{Title: "Current bucket", About: "Bucket of the data mix that the run is in: its name, and without one its number (metric data.bucket, tag rl.data.bucket).", Unit: "string"}, currentBucket()).Words(),
		onePerRun("Tokens trained", "Tokens that the run has trained on since its first attempt (metric train.tokens_total).", "short", total),
		board.Number(board.Text{Title: "Token/s", About: "Increase of the trained tokens over the last hour of the time, per second (metric train.tokens_total).", Unit: "short"}, tokenRate("rate")).Size(8, 4),
		onePerRun("Step", "Highest step of the run (metric loss).", "none", query.OfMetric(names.TableLoss).Scaled("toFloat64(step)")),
		onePerRun("Epoch", "Pass over the data that the run is in (metric rl.progress.epoch).", "short", query.OfMetric(names.RLProgressEpoch)),
		board.Number(board.Text{Title: "Milestones reached", About: "Milestones of the run that were reached (events rl.milestone).", Unit: "none"}, query.Text(`
SELECT if(count() = 0, NULL, countIf(reached_at IS NOT NULL)) AS value
FROM training_observability.run_milestones
WHERE {runs}`, "runs", query.OfRuns())),
	)
	b.Row("Milestones",
		board.Table(board.Text{
			Title: "Time to milestones", Unit: "short",
			About: "Milestones that the run set (event rl.milestone, view run_milestones) with the way there: share done, and the time that the rest takes at the rate of the last hour (metric train.tokens_total). Without a token target the step counts.",
		}, milestones()).
			Column("done", append(board.Bar(0, 1), board.Unit("percentunit"))...).
			Column("to go", board.Unit("dtdurations")).Column("target tokens", board.Unit("short")).Size(24, 9),
		board.Bars(board.Text{Title: "Time to milestones, as the run says", About: "Time until a milestone at the present rate, where the trainer sends it (metric milestone.eta_s).", Unit: "dtdurations"}, query.OfMetric(names.TableMilestoneEtaS).By(names.AttributeRLMilestoneName).Last()).Size(12, 12),
		board.Bars(board.Text{Title: "Way to milestones, as the run says", About: "Share of the way to a milestone in tokens, where the trainer sends it (metric milestone.progress).", Unit: "percentunit"}, query.OfMetric(names.TableMilestoneProgress).By(names.AttributeRLMilestoneName).Last()).Range(0, 1).Size(12, 12),
	)
	curves(b, "Way",
		curve{"Tokens trained", "Tokens trained on since the first attempt (metric train.tokens_total).", "short", total, fromZero},
		curve{"Bucket", "Bucket of the data mix, as a number (metric data.bucket).", "short", bucket, nil},
		curve{"Time to milestones", "Time until each milestone at the rate of the moment, where the trainer sends it (metric milestone.eta_s).", "dtdurations", query.OfMetric(names.TableMilestoneEtaS).By(names.AttributeRLMilestoneName), fromZero},
	)
	b.Row("Buckets over time", board.Lanes(board.Text{
		Title: "Bucket of each run", Unit: "none",
		About: "Which bucket of the data mix each run was in, by number (metric data.bucket).",
	}, query.Sampled{Metric: query.Is(names.TableDataBucket), Line: "run_id", Where: []string{query.OfRuns()}, Within: "max"}.OverTime(), buckets()...).
		Lasting(3600000).Size(24, 6))
	return b
}

// buckets name the numbers of the first dozen.
func buckets() []board.Named {
	colours := []string{"semi-dark-blue", "semi-dark-green", "semi-dark-yellow", "semi-dark-orange", "semi-dark-red", "semi-dark-purple"}
	var named []board.Named
	for i := range 12 {
		number := strconv.Itoa(i)
		named = append(named, board.Named{Value: number, Text: "bucket " + number, Colour: colours[i%len(colours)]})
	}
	return named
}

func currentBucket() string {
	return query.Text(`
SELECT
    run_id AS series,
    argMax(if({name} = '', toString(value), {name}), (step, event_time)) AS value
FROM {points}
WHERE {runs} AND {metric} AND {time}
GROUP BY series
ORDER BY series`,
		"name", query.Tag(names.AttributeRLDataBucket), "points", query.Points, "runs", query.OfRuns(),
		"metric", query.Is(names.TableDataBucket), "time", query.InTime)
}

// paces is a row per run with its tokens, its step, and how fast both grew over the last hour of the dashboard's time, or over
// the run's part of it. Only increases count: a resumed run goes back.
const paces = `
    SELECT
        run_id,
        max(most) AS tokens,
        max(at) AS step,
        nullIf(dateDiff('second', min(moment), max(moment)), 0) AS seconds,
        (max(most) - min(most)) / seconds AS rate,
        (max(at) - min(at)) / seconds AS steps
    FROM
    (
        SELECT run_id, step AS at, max(value) AS most, max(event_time) AS moment
        FROM {points}
        WHERE {runs} AND {metric} AND {time} AND event_time >= $__toTime - INTERVAL 1 HOUR
        GROUP BY run_id, at
    )
    GROUP BY run_id`

func fillPaces(template string) string {
	return query.Text(template, "paces", paces, "points", query.Points, "runs", query.OfRuns(),
		"metric", query.Is(names.TableTrainTokensTotal), "time", query.InTime)
}

func tokenRate(column string) string {
	return fillPaces(`
SELECT run_id AS series, ` + column + ` AS value
FROM
({paces}
)
ORDER BY series`)
}

func milestones() string {
	return fillPaces(`
SELECT
    m.run_id AS run,
    milestone,
    if(reached_at IS NOT NULL, 1., least(1., if(target_tokens > 0, p.tokens / target_tokens, p.step / nullIf(target_step, 0)))) AS done,
    multiIf(
        reached_at IS NOT NULL OR done >= 1, 0,
        target_tokens > 0, (target_tokens - p.tokens) / nullIf(p.rate, 0),
        (target_step - p.step) / nullIf(p.steps, 0)
    ) AS "to go",
    $__toTime + toIntervalSecond(toUInt64OrNull(toString(round("to go")))) AS expected,
    reached_at AS reached,
    target_tokens AS "target tokens",
    target_step AS "target step"
FROM training_observability.run_milestones AS m
LEFT JOIN
({paces}
) AS p ON p.run_id = m.run_id
WHERE m.{runs}
ORDER BY run, target_tokens, target_step, milestone
LIMIT 500
SETTINGS join_use_nulls = 1`)
}
