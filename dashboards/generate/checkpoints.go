package main

import (
	"github.com/pitwall-otel/pitwall/dashboards/internal/board"
	"github.com/pitwall-otel/pitwall/dashboards/internal/query"
	"github.com/pitwall-otel/pitwall/schema/names"
)

func checkpoints() *board.Board {
	b := board.New("checkpoints", "Checkpoints", "Checkpoints of the chosen runs: which there are, what they cost, how good they are, where they can be fetched, what the model writes.",
		runs(), attempts(),
		board.WithAll(board.Choice("checkpoint", "Checkpoint", query.Text(`
SELECT {value} AS value, checkpoint_id AS text
FROM training_observability.run_checkpoints
WHERE {runs} AND saved_at <= $__toTime
GROUP BY checkpoint_id
ORDER BY max(step) DESC
LIMIT 1000`, "value", query.VariableValue("checkpoint_id"), "runs", query.OfRuns()))))
	size := query.OfMetric(names.TableCheckpointSizeBytes)
	free := query.OfMetric(names.TableCheckpointDiskFreeRatio).Taking("min")
	b.Row("Now",
		board.Number(board.Text{Title: "Checkpoints", About: "Checkpoints of the run that are there and whole (events rl.checkpoint.saved and .deleted).", Unit: "none"}, countCheckpoints("status = 'complete'")),
		board.Number(board.Text{Title: "Hosted", About: "Checkpoints that others can fetch (event rl.checkpoint.published).", Unit: "none"}, countCheckpoints("published_at IS NOT NULL AND status != 'deleted'")),
		onePerRun("Latest size", "Size of the latest checkpoint (metric checkpoint.size_bytes).", "bytes", size),
		onePerRun("Latest save", "Time that the latest save took (metric checkpoint.save_s).", "s", query.OfMetric(names.TableCheckpointSaveS)),
		onePerRun("Free on the disk", "Share of the checkpoints' disk that is free; the next save fails when too little is left (metric checkpoint.disk_free_ratio).", "percentunit", free).Lights(board.Red, board.Limit{From: 0.1, Colour: board.Yellow}, board.Limit{From: 0.2, Colour: board.Green}),
		board.Number(board.Text{Title: "Hosts that answer", About: "Hosted checkpoints that could be fetched when last tried (metric checkpoint.up).", Unit: "none"}, query.Sampled{Metric: query.Is(names.TableCheckpointUp), Line: query.Tag(names.AttributeRLCheckpointID), Where: []string{query.OfRuns()}}.LastAll("sum")),
	)
	status := board.Mapped(
		board.Named{Value: "complete", Text: "complete", Colour: board.Green}, board.Named{Value: "saving", Text: "saving", Colour: board.Yellow},
		board.Named{Value: "failed", Text: "failed", Colour: board.Red}, board.Named{Value: "deleted", Text: "deleted", Colour: board.Gray})
	b.Row("Checkpoints", board.Table(board.Text{
		Title: "Checkpoint list", Unit: "short",
		About: "Every checkpoint that the run told of up to the end of the time: step, size, time of saving, hash, state (events rl.checkpoint.saved, .deleted, .published, view run_checkpoints).",
	}, checkpointList()).
		Column("status", append(board.Filled(), status)...).
		Column("size", board.Unit("bytes")).Column("save", board.Unit("s")).Column("age", board.Unit("s")))
	curves(b, "Checkpoint stats",
		curve{"Size", "Size of all files of a checkpoint (metric checkpoint.size_bytes).", "bytes", size, dotsFromZero},
		curve{"Time of saving", "Time until a checkpoint was whole on disk (metric checkpoint.save_s).", "s", query.OfMetric(names.TableCheckpointSaveS), dots},
		curve{"Free on the checkpoints' disk", "Share of the disk that is free (metric checkpoint.disk_free_ratio).", "percentunit", free, share},
	)
	curves(b, "Checkpoint benchmarks",
		curve{"Benchmark scores", "Score of each checkpoint at each task (metric bench.score by suite, task and number of answers).", "short", query.OfMetric(names.TableBenchScore).By(names.AttributeRLBenchmarkSuite, names.AttributeRLBenchmarkTask, names.AttributeRLK), wideDots},
	)
	b.Row("Benchmarks in detail", board.Table(board.Text{
		Title: "Benchmarks", Unit: "short",
		About: "Latest score of each checkpoint at each task, with what ran it (event rl.checkpoint.benchmark, view run_benchmarks).",
	}, benchmarkList()).Column("score", append(board.Coloured(board.Red, board.Limit{From: 0.3, Colour: board.Yellow}, board.Limit{From: 0.7, Colour: board.Green}), board.Digits(3))...))
	b.Row("Hosted checkpoints", board.Table(board.Text{
		Title: "Checkpoint hosted list", Unit: "short",
		About: "Checkpoints that others can fetch: where, since when, and whether they could be fetched when last tried (event rl.checkpoint.published, metric checkpoint.up).",
	}, hostedList()).
		Column("up", append(board.Filled(), board.Mapped(board.YesNo("up", "down")...))...))
	b.Row("Generated samples",
		board.Table(board.Text{
			Title: "Generated samples", Unit: "short",
			About: "The latest samples of the time, with their texts where the producer's content policy lets them out; text says which policy that was (event rl.sample, view run_samples).",
		}, sampleList()).Column("reward", board.Digits(3)).Column("prompt", board.Width(420)).Column("completion", board.Width(520)).Size(24, 14))
	return b
}

func countCheckpoints(condition string) string {
	return query.Text(`
SELECT if(count() = 0, NULL, countIf({condition})) AS value
FROM training_observability.run_checkpoints
WHERE {runs} AND saved_at <= $__toTime`, "condition", condition, "runs", query.OfRuns())
}

// checkpointList goes back before the time of the dashboard: a checkpoint is there until it is deleted.
func checkpointList() string {
	return query.Text(`
SELECT
    run_id AS run, checkpoint_id AS checkpoint, step, attempt, status, size_bytes AS size, files, save_seconds AS save, keep,
    dateDiff('second', saved_at, least(now64(3), $__toTime_ms)) AS age, saved_at AS saved, format, path, sha256
FROM training_observability.run_checkpoints
WHERE {runs} AND {chosen} AND saved_at <= $__toTime
ORDER BY run, step DESC
LIMIT 1000`, "runs", query.OfRuns(), "chosen", query.AllOr("checkpoint", "checkpoint_id"))
}

func benchmarkList() string {
	return query.Text(`
SELECT run_id AS run, checkpoint_id AS checkpoint, step, suite, task, k, score, harness, measured_at AS measured
FROM training_observability.run_benchmarks
WHERE {runs} AND {chosen} AND measured_at <= $__toTime
ORDER BY run, step DESC, suite, task
LIMIT 2000`, "runs", query.OfRuns(), "chosen", query.AllOr("checkpoint", "checkpoint_id"))
}

func hostedList() string {
	return query.Text(`
SELECT c.run_id AS run, checkpoint_id AS checkpoint, step, hosted_by AS host, url, published_at AS published, u.up AS up, u.tried AS tried
FROM training_observability.run_checkpoints AS c
LEFT JOIN
(
    SELECT run_id, {id} AS id, argMax(value, event_time) AS up, max(event_time) AS tried
    FROM {points}
    WHERE {runs} AND {metric} AND {time}
    GROUP BY run_id, id
) AS u ON u.run_id = c.run_id AND u.id = c.checkpoint_id
WHERE c.{runs} AND {chosen} AND published_at <= $__toTime AND status != 'deleted'
ORDER BY run, step DESC
LIMIT 1000
SETTINGS join_use_nulls = 1`,
		"id", query.Tag(names.AttributeRLCheckpointID), "points", query.Points, "runs", query.OfRuns(),
		"metric", query.Is(names.TableCheckpointUp), "time", query.InTime, "chosen", query.AllOr("checkpoint", "checkpoint_id"))
}

func sampleList() string {
	return query.Text(`
SELECT
    event_time AS time, run_id AS run, step, environment, split, reward, length, finish_reason, prompt, completion, golden,
    text_policy AS text, sample_id AS sample, trace_id
FROM training_observability.run_samples
WHERE {runs} AND {time}
ORDER BY time DESC
LIMIT 1 BY run, sample
LIMIT 200`, "runs", query.OfRuns(), "time", query.InTime)
}
