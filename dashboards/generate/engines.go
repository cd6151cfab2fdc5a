package main

import (
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"

	"github.com/pitwall-otel/pitwall/dashboards/internal/board"
	"github.com/pitwall-otel/pitwall/dashboards/internal/query"
	"github.com/pitwall-otel/pitwall/schema/names"
)

// engine names an engine as its receiver does, down to its data-parallel rank.
const engine = "trimRight(concat(JSONExtractString(tags_json, 'service.instance.id'), ' ', JSONExtractString(tags_json, 'inference.rank.data')))"

// chosenEngines takes engines, not the routers before them: a request shows at both.
func chosenEngines() []string {
	return []string{
		query.AllOr("run_id", "run_id"),
		query.AllOr("engine", query.Tag(names.AttributeServiceInstanceID)),
		query.Tag(names.AttributeInferenceScope) + " != 'router'",
	}
}

// runsOrNone are runs, and what belongs to none: engines need not know whose they are.
func runsOrNone() dashboard.VariableModel { return board.WithAll(runs()) }

func engineVariable() dashboard.VariableModel {
	return board.WithAll(board.Choice("engine", "Engine", query.Tags(names.AttributeServiceInstanceID,
		query.Any(names.InferenceEngineUp, names.InferenceRequestsRunning), query.AllOr("run_id", "run_id"))))
}

func ofEngine(metric string) query.Sampled {
	return query.Sampled{Metric: query.Is(metric), Line: engine, Where: chosenEngines()}
}

func countedByEngine(metric string) query.Counter {
	return query.Counter{Metric: query.Is(metric), Line: engine, Where: chosenEngines()}
}

// fleet takes all engines together.
func fleet(metric string) query.Counter {
	c := countedByEngine(metric)
	c.Line = "'fleet'"
	return c
}

// promptTokens are those of inference.tokens.prompt, and of inference.tokens.prefill where an engine has not the former:
// SGLang up to 0.5.9 and vLLM up to 0.10.
func promptTokens() query.Counter {
	c := fleet(names.InferenceTokensPrompt)
	c.Metric = query.Any(names.InferenceTokensPrompt, names.InferenceTokensPrefill)
	return c.With(query.Fill(`({prompt} OR (run_id, {engine}) NOT IN (
          SELECT run_id, {engine} FROM {points} WHERE {run} AND {prompt} AND {time}))`,
		"run", query.AllOr("run_id", "run_id"), "prompt", query.Is(names.InferenceTokensPrompt), "engine", query.Tag(names.AttributeServiceInstanceID),
		"points", query.Points, "time", query.InTime))
}

// allPriorities takes the total over classes of priority.
func allPriorities() string { return query.TagIs(names.AttributeInferenceRequestPriority, "") }

// mainPool takes the cache of full attention where an engine has others beside it.
func mainPool() string { return query.TagIn(names.AttributeInferenceKVCachePool, "", "full") }

func timesOf(metric string) query.Histogram {
	return query.Histogram{Metric: metric, Line: "''", Where: chosenEngines()}
}

func engines() *board.Board {
	b := board.New("engines", "Engines", "Inference engines, SGLang and vLLM of any version under the same names: one by one and as a fleet.",
		runsOrNone(), engineVariable())
	lines := func(title, about, unit string, s query.Sampled) *board.Panel {
		return board.OverTime(board.Text{Title: title, About: about, Unit: unit}, s.OverTime()).FromZero().Every("15s")
	}
	rate := func(title, about, unit string, c query.Counter) *board.Panel {
		return board.OverTime(board.Text{Title: title, About: about, Unit: unit}, c.Rate()).FromZero().Every("30s")
	}
	running, waiting := ofEngine(names.InferenceRequestsRunning).With(allPriorities()), ofEngine(names.InferenceRequestsWaiting).With(allPriorities())
	cache := ofEngine(names.InferenceKVCacheUsage).With(mainPool())
	up := ofEngine(names.InferenceEngineUp)
	updates := ofEngine(names.InferenceWeightsLoadDuration)
	updates.Line = "trimRight(concat(" + engine + ", ' ', " + query.Tag(names.AttributeInferenceWeightsSource) + "))"
	b.Row("Fleet now",
		board.Number(board.Text{Title: "Engines up", About: "Engines whose latest scrape was answered (metric inference.engine.up).", Unit: "none"}, up.LastAll("sum")),
		board.Number(board.Text{Title: "Engines down", About: "Engines whose latest scrape was not answered (metric inference.engine.up).", Unit: "none"}, down(up)).Lights(board.Green, board.Limit{From: 1, Colour: board.Red}),
		board.Number(board.Text{Title: "Running", About: "Requests that engines work on, latest values added up (metric inference.requests.running).", Unit: "none"}, running.LastAll("sum")),
		board.Number(board.Text{Title: "Waiting", About: "Requests that wait for room, latest values added up; steadily above 0 means that engines are full (metric inference.requests.waiting).", Unit: "none"}, waiting.LastAll("sum")),
		board.Number(board.Text{Title: "Fullest KV cache", About: "Latest use of the fullest KV cache (metric inference.kv_cache.usage).", Unit: "percentunit"}, cache.LastAll("max")).Lights(board.Green, board.Limit{From: 0.8, Colour: board.Yellow}, board.Limit{From: 0.95, Colour: board.Red}),
		board.Number(board.Text{Title: "Tokens generated", About: "Tokens that the engines generated in the time (counter inference.tokens.output).", Unit: "short"}, countedByEngine(names.InferenceTokensOutput).TotalAll()),
	)
	b.Row("Fleet",
		rate("Token/s generated", "Tokens generated per second by all engines (rate of counter inference.tokens.output).", "short", fleet(names.InferenceTokensOutput)),
		rate("Token/s of prompts", "Prompt tokens per second of all engines (rate of counter inference.tokens.prompt; of inference.tokens.prefill, which counts repeated work too, for engines that have only that).", "short", promptTokens()),
		rate("Requests ended/s", "Requests that ended per second, by reason where the engine says it (rate of counter inference.requests.finished).", "reqps", byReason()),
		latency("Time to the first token", "From a request's arrival to its first token, of all engines", names.GenAIServerTimeToFirstToken),
		latency("Time between tokens", "Between two tokens of a request, of all engines", names.InferenceInterTokenLatency),
		latency("Time of requests", "From a request's arrival to its end, of all engines; the tail of a rollout shows in p99", names.GenAIServerRequestDuration),
		latency("Time in the queue", "That a request waited before an engine began with it", names.InferenceRequestQueueDuration),
		board.Heat(board.Text{Title: "Time of requests, distribution", About: "Requests by how long they took; lanes are upper bounds of buckets in seconds (histogram gen_ai.server.request.duration).", Unit: "short"},
			timesOf(names.GenAIServerRequestDuration).Buckets()).Scheme("Turbo").Size(8, 8).Every("30s"),
		board.Heat(board.Text{Title: "Length of answers, distribution", About: "Requests by the tokens they generated; lanes are upper bounds of buckets (histogram inference.request.output_tokens).", Unit: "short"},
			timesOf(names.InferenceRequestOutputTokens).Buckets()).Scheme("Turbo").Size(8, 8).Every("30s"),
	)
	b.Row("Engine by engine",
		lines("Running requests", "Requests that each engine works on (metric inference.requests.running).", "short", running),
		lines("Waiting requests", "Requests that wait for room (metric inference.requests.waiting).", "short", waiting),
		lines("KV cache in use", "Share of the KV cache in use; near 1 requests wait or are preempted (metric inference.kv_cache.usage).", "percentunit", cache).Range(0, 1),
		rate("Token/s by engine", "Tokens generated per second (rate of counter inference.tokens.output).", "short", countedByEngine(names.InferenceTokensOutput)),
		board.OverTime(board.Text{Title: "Prefix cache hits", About: "Share of prompt tokens looked up that were found in the prefix cache (counters inference.prefix_cache.hit_tokens over lookup_tokens).", Unit: "percentunit"}, cacheHits()).Range(0, 1).Every("30s"),
		rate("Preemptions/s", "Requests put back into the queue to make room (rate of counter inference.preemptions).", "short", countedByEngine(names.InferencePreemptions)),
		board.OverTime(board.Text{Title: "Spread of running requests", About: "Least, median and most running requests of the engines: a wide gap means that the balance between engines or data-parallel ranks is bad (metric inference.requests.running).", Unit: "short"}, running.Spread()).Columns().FromZero().Every("15s"),
		lines("Weight update", "Time that the last update of the weights took, as the engine saw it, by where they came from (metric inference.weights.load.duration).", "s", updates).Dots(),
		lines("Idle since", "Time since any counter of the engine moved (metric inference.engine.counter.age).", "s", ofEngine(names.InferenceEngineCounterAge)),
	)
	disaggregation(b)
	b.Row("List", board.Table(board.Text{
		Title: "Engines", Unit: "short",
		About: "Latest values of each engine: up (inference.engine.up), running and waiting requests, KV cache, age of the last point.",
	}, engineList()).
		Column("up", append(board.Filled(), board.Mapped(board.YesNo("up", "down")...), board.Property{Id: "color", Value: map[string]string{"mode": "thresholds"}})...).
		Column("KV cache", append(board.Coloured(board.Green, board.Limit{From: 0.8, Colour: board.Yellow}, board.Limit{From: 0.95, Colour: board.Red}), board.Unit("percentunit"))...).
		Column("age", board.Unit("s")))
	return b
}

func latency(title, about, metric string) *board.Panel {
	return board.OverTime(board.Text{
		Title: title, Unit: "s", About: about + ": p50, p90 and p99 of what ended in each interval (histogram " + metric + ").",
	}, timesOf(metric).Percentiles("0.5", "0.9", "0.99")).Percentiles().FromZero().Every("30s")
}

func byReason() query.Counter {
	c := countedByEngine(names.InferenceRequestsFinished)
	reason := query.Tag(names.AttributeInferenceFinishReason)
	c.Line = "if(" + reason + " = '', 'ended', " + reason + ")"
	return c
}

func cacheHits() string {
	c := query.Counter{
		Metric: query.Any(names.InferencePrefixCacheHitTokens, names.InferencePrefixCacheLookupTokens), Line: engine,
		Where: append(chosenEngines(), query.TagIn(names.AttributeInferenceCacheTier, "", "device", "any")),
	}
	return c.Ratio(query.Is(names.InferencePrefixCacheHitTokens))
}

func disaggregation(b *board.Board) {
	queues := ofEngine(names.InferencePDQueueRequests)
	queues.Line = query.Tag(names.AttributeInferencePDQueue)
	b.Folded("Prefill and decode apart",
		board.OverTime(board.Text{Title: "Queues between prefill and decode", About: "Requests in each queue, added up over engines; the one that grows is the bottleneck (metric inference.pd.queue.requests).", Unit: "short"}, queues.Summed(engine)).FromZero().Every("15s"),
		latency("Transfer of the KV cache", "Time that sending a request's KV cache from prefill to decode took", names.InferencePDKVTransferDuration),
		latency("Wait for room in the decode cache", "That a request waited for room in the decode side's KV cache", names.InferencePDKVTransferAllocDuration),
		board.OverTime(board.Text{Title: "Speed of KV transfers", About: "p10, p50 and p90 of the speed of transfers (histogram inference.pd.kv_transfer.throughput).", Unit: "Bps"}, timesOf(names.InferencePDKVTransferThroughput).Percentiles("0.1", "0.5", "0.9")).FromZero().Every("30s"),
		board.OverTime(board.Text{Title: "Failures/s between prefill and decode", About: "Requests that failed between prefill and decode (rate of counter inference.pd.failures).", Unit: "reqps"}, countedByEngine(names.InferencePDFailures).Rate()).FromZero().Every("30s"),
		board.OverTime(board.Text{Title: "Engines by role, running", About: "Running requests by what the engines do (metric inference.requests.running by inference.role).", Unit: "short"}, byRole()).FromZero().Every("15s"),
	)
}

func byRole() string {
	s := ofEngine(names.InferenceRequestsRunning).With(allPriorities())
	role := query.Tag(names.AttributeInferenceRole)
	s.Line = "if(" + role + " = '', 'unified', " + role + ")"
	return s.Summed(engine)
}

// down counts engines whose latest scrape was not answered.
func down(up query.Sampled) string {
	up.Value = "if(value > 0, 0, 1)"
	return up.LastAll("sum")
}

func engineList() string {
	return query.Text(`
SELECT
    {engine} AS engine,
    any({provider}) AS program,
    any({model}) AS model,
    argMaxOrNullIf(value, event_time, metric = {up}) AS up,
    argMaxOrNullIf(value, event_time, metric = {running}) AS running,
    argMaxOrNullIf(value, event_time, metric = {waiting}) AS waiting,
    argMaxOrNullIf(value, event_time, metric = {cache}) AS "KV cache",
    dateDiff('second', max(event_time), least(now64(3), $__toTime_ms)) AS age
FROM {points}
WHERE {where}
      AND {metric}
      AND {time}
GROUP BY engine
ORDER BY engine
LIMIT 1000`,
		"engine", engine, "provider", query.Tag(names.AttributeGenAIProviderName), "model", query.Tag(names.AttributeGenAIRequestModel),
		"up", query.Quote(names.InferenceEngineUp), "running", query.Quote(names.InferenceRequestsRunning),
		"waiting", query.Quote(names.InferenceRequestsWaiting), "cache", query.Quote(names.InferenceKVCacheUsage),
		"points", query.Points, "where", query.All(append(chosenEngines(), allPriorities(), mainPool())...), "time", query.InTime,
		"metric", query.Any(names.InferenceEngineUp, names.InferenceRequestsRunning, names.InferenceRequestsWaiting, names.InferenceKVCacheUsage))
}
