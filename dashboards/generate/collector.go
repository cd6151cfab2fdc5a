package main

import (
	"github.com/pitwall-otel/pitwall/dashboards/internal/board"
	"github.com/pitwall-otel/pitwall/dashboards/internal/query"
	"github.com/pitwall-otel/pitwall/schema/names"
)

// part names a component of a collector.
const part = "trimRight(concat(host, ' ', JSONExtractString(tags_json, 'pitwall.component')))"

// source names what a receiver reads.
const source = "trimRight(concat(host, ' ', JSONExtractString(tags_json, 'pitwall.component'), ' ', JSONExtractString(tags_json, 'pitwall.target')))"

// ownRows are the rows that collectors write about themselves: they belong to no run, but those about an engine may.
func ownRows() []string { return []string{query.OfHosts()} }

func ledger(metric, line string) query.Counter {
	return query.Counter{Metric: query.Is(metric), Line: line, Where: ownRows()}
}

func own(metric string) query.Sampled {
	return query.Sampled{Metric: query.Is(metric), Line: part, Where: ownRows()}
}

func collector() *board.Board {
	b := board.New("collector", "Collector health", "Pitwall about itself: nothing lost, nothing late, and how each receiver does. The figures belong to the collectors, not to a run.",
		board.WithAll(board.Choice("host", "Collector", query.Hosts(query.Is(names.PitwallPointsAccepted), "run_id = ''"))))
	total := func(title, about, metric string) *board.Panel {
		return board.Number(board.Text{Title: title, About: about, Unit: "short"}, ledger(metric, "'all'").TotalAll())
	}
	bad := board.Limit{From: 1, Colour: board.Red}
	b.Row("Ledger: accepted = stored + dropped + queued",
		total("Accepted", "Points that were taken over and made durable in the time (counter pitwall.points.accepted).", names.PitwallPointsAccepted),
		total("Stored", "Points that the table confirmed in the time (counter pitwall.points.stored).", names.PitwallPointsStored),
		total("Dropped", "Accepted points that will never be in the table, in the time; repeated requests are among them (counter pitwall.points.dropped).", names.PitwallPointsDropped).Lights(board.Green, bad),
		total("Refused", "Points that were not accepted; their senders were told and may send them again (counter pitwall.points.refused).", names.PitwallPointsRefused).Lights(board.Green, board.Limit{From: 1, Colour: board.Yellow}),
		board.Number(board.Text{Title: "Queued", About: "Accepted points that still wait on disk for the table, latest of each collector added up (metric pitwall.points.queued).", Unit: "short"}, own(names.PitwallPointsQueued).LastAll("sum")),
		board.Number(board.Text{Title: "Not accounted for", About: "Accepted less stored, dropped and queued, over all that the collectors said last: anything but 0 for long is an error of Pitwall's (metrics pitwall.points.*).", Unit: "short"}, balance()).Lights(board.Green, bad),
	)
	rate := func(title, about string, c query.Counter) *board.Panel {
		return board.OverTime(board.Text{Title: title, About: about, Unit: "short"}, c.Rate()).FromZero().Every("30s")
	}
	b.Row("Points",
		rate("Accepted points/s", "Points accepted per second (rate of counter pitwall.points.accepted).", ledger(names.PitwallPointsAccepted, part)),
		rate("Stored points/s", "Points stored per second (rate of counter pitwall.points.stored).", ledger(names.PitwallPointsStored, part)),
		rate("Dropped and refused points/s", "Points per second that were dropped or refused, by reason (rates of counters pitwall.points.dropped and .refused).", lossByReason()),
		board.OverTime(board.Text{Title: "Queued points", About: "Points that wait on disk for the table; it grows while the table is away (metric pitwall.points.queued).", Unit: "short"}, own(names.PitwallPointsQueued).OverTime()).FromZero().Every("15s").Size(12, 8),
		board.OverTime(board.Text{Title: "Size of the log", About: "Bytes of the write-ahead log on disk (metric pitwall.log.size).", Unit: "bytes"}, own(names.PitwallLogSize).OverTime()).FromZero().Every("15s").Size(12, 8),
	)
	perSource := func(metric string) query.Sampled {
		s := own(metric)
		s.Line = source
		return s
	}
	b.Row("Receivers",
		board.Table(board.Text{
			Title: "Receivers and what they read", Unit: "short",
			About: "Of each target: whether it answered last (pitwall.scrape.up), how long that took, what it brought, errors of the last collection, and how long ago one brought something (metrics pitwall.scrape.*).",
		}, receivers()).
			Column("up", append(board.Filled(), board.Mapped(board.YesNo("up", "down")...))...).
			Column("failed", append(board.Filled(), board.Mapped(board.Named{Value: "0", Text: "no", Colour: board.Green}, board.Named{Value: "1", Text: "failed", Colour: board.Red}))...).
			Column("errors", board.Coloured(board.Green, board.Limit{From: 1, Colour: board.Yellow})...).
			Column("duration", board.Unit("s")).
			Column("freshness", append(board.Coloured(board.Green, board.Limit{From: 120, Colour: board.Yellow}, board.Limit{From: 600, Colour: board.Red}), board.Unit("s"))...),
		board.Lanes(board.Text{Title: "Targets up and down", About: "Whether each target answered, over time (metric pitwall.scrape.up).", Unit: "none"},
			withWorst(perSource(names.PitwallScrapeUp)).OverTime(), board.YesNo("up", "down")...).Lasting(300000).Size(24, 8).Every("30s"),
		board.OverTime(board.Text{Title: "Duration of collections", About: "How long collections took, by target (metric pitwall.scrape.duration, in the table collector.*.duration_seconds).", Unit: "s"}, scraped(names.TableCollectorPitwallComponentDurationSeconds).OverTime()).FromZero().Every("30s"),
		board.OverTime(board.Text{Title: "Errors of collections", About: "Parts of collections that failed, by target (metric pitwall.scrape.errors, in the table collector.*.error_count).", Unit: "short"}, scraped(names.TableCollectorPitwallComponentErrorCount).OverTime()).FromZero().Every("30s"),
		board.OverTime(board.Text{Title: "Metrics of collections", About: "Metrics that collections brought, by target (metric pitwall.scrape.metrics, in the table collector.*.metric_count).", Unit: "short"}, scraped(names.TableCollectorPitwallComponentMetricCount).OverTime()).FromZero().Every("30s"),
	)
	b.Row("Freshness and cost",
		board.Table(board.Text{Title: "Freshness of the table", About: "The latest point of each machine and how many came in the time, of sys.cpu_percent, sys.mem_percent and pitwall.points.accepted.", Unit: "short"}, freshness()).
			Column("age", append(board.Coloured(board.Green, board.Limit{From: 60, Colour: board.Yellow}, board.Limit{From: 300, Colour: board.Red}), board.Unit("s"))...).Size(8, 8),
		board.OverTime(board.Text{Title: "Families missing or unknown", About: "Metric families that an engine of its version should have and lacks, and families that the registry does not know, by target (metrics pitwall.scrape.families.*).", Unit: "short"}, families()).FromZero().Every("30s"),
		board.OverTime(board.Text{Title: "Cost of components", About: "Share of one core that each component takes (metric pitwall.cost.cpu.utilization).", Unit: "percentunit"}, own(names.PitwallCostCPUUtilization).OverTime()).FromZero().Every("30s"),
	)
	return b
}

// withWorst lets the least of an interval's values stand: one failure is seen.
func withWorst(s query.Sampled) query.Sampled {
	s.Within = "min"
	return s
}

func scraped(template string) query.Sampled {
	return query.Sampled{
		Metric: query.AnyOf(template), Where: ownRows(), Within: "max",
		Line: "trimRight(concat(host, ' ', extract(metric, '^collector[.](.*)[.][^.]*$'), ' ', " + query.Tag(names.AttributePitwallTarget) + "))",
	}
}

func lossByReason() query.Counter {
	c := ledger(names.PitwallPointsDropped, "")
	c.Metric = query.Any(names.PitwallPointsDropped, names.PitwallPointsRefused)
	c.Line = "trimRight(concat(host, ' ', if(metric = " + query.Quote(names.PitwallPointsDropped) + ", 'dropped ', 'refused '), " +
		query.Tag(names.AttributePitwallDropReason) + ", " + query.Tag(names.AttributePitwallRefuseReason) + "))"
	return c
}

// balance takes the last row of each counter; the rows of one collector are written at one moment.
func balance() string {
	return query.Text(`
SELECT if(count() = 0, NULL, sumIf(latest, metric = {accepted}) - sumIf(latest, metric != {accepted})) AS value
FROM
(
    SELECT metric, {part} AS series, tags_json, argMax(value, event_time) AS latest
    FROM {points}
    WHERE {where}
      AND {metric}
      AND {time}
    GROUP BY metric, series, tags_json
)`,
		"accepted", query.Quote(names.PitwallPointsAccepted), "part", part, "points", query.Points, "where", query.All(ownRows()...),
		"metric", query.Any(names.PitwallPointsAccepted, names.PitwallPointsStored, names.PitwallPointsDropped, names.PitwallPointsQueued), "time", query.InTime)
}

func receivers() string {
	like := query.AnyOf
	return query.Text(`
SELECT
    host AS collector,
    {component} AS component,
    {target} AS target,
    argMaxOrNullIf(value, event_time, metric = {up}) AS up,
    argMaxOrNullIf(value, event_time, {failed}) AS failed,
    argMaxOrNullIf(value, event_time, {duration}) AS duration,
    argMaxOrNullIf(value, event_time, {count}) AS metrics,
    argMaxOrNullIf(value, event_time, {errors}) AS errors,
    toUnixTimestamp(least(now(), $__toTime)) - argMaxOrNullIf(value, event_time, metric = {success}) AS freshness
FROM {points}
WHERE {where}
      AND (metric IN ({up}, {success}) OR {failed} OR {duration} OR {count} OR {errors})
      AND {time}
GROUP BY collector, component, target
ORDER BY collector, component, target
LIMIT 1000`,
		"component", "if(startsWith(metric, 'collector.'), extract(metric, '^collector[.](.*)[.][^.]*$'), "+query.Tag(names.AttributePitwallComponent)+")", "target", query.Tag(names.AttributePitwallTarget),
		"up", query.Quote(names.PitwallScrapeUp), "success", query.Quote(names.PitwallScrapeLastSuccessTime),
		"failed", like(names.TableCollectorPitwallComponentFailed), "duration", like(names.TableCollectorPitwallComponentDurationSeconds),
		"count", like(names.TableCollectorPitwallComponentMetricCount), "errors", like(names.TableCollectorPitwallComponentErrorCount),
		"points", query.Points, "where", query.All(ownRows()...), "time", query.InTime)
}

// families are counted at each scrape: expected less present, and unknown.
func families() string {
	return query.Text(`
SELECT time, concat(series, ' ', kind) AS series, value
FROM
(
    SELECT
        $__timeInterval(event_time) AS time,
        {source} AS series,
        maxIf(value, metric = {expected}) - maxIf(value, metric = {present}) AS missing,
        maxIf(value, metric = {unknown}) AS unknown
    FROM {points}
    WHERE {where}
      AND {metric}
      AND {time}
    GROUP BY time, series
)
ARRAY JOIN ['missing', 'unknown'] AS kind, [missing, unknown] AS value
ORDER BY time, series`,
		"source", source, "points", query.Points, "where", query.All(ownRows()...), "time", query.InTime,
		"expected", query.Quote(names.PitwallScrapeFamiliesExpected), "present", query.Quote(names.PitwallScrapeFamiliesPresent),
		"unknown", query.Quote(names.PitwallScrapeFamiliesUnknown),
		"metric", query.Any(names.PitwallScrapeFamiliesExpected, names.PitwallScrapeFamiliesPresent, names.PitwallScrapeFamiliesUnknown))
}

func freshness() string {
	return query.Text(`
SELECT host, dateDiff('second', max(event_time), least(now64(3), $__toTime_ms)) AS age, max(event_time) AS latest, count() AS points
FROM {points}
WHERE {where}
      AND {metric}
      AND {time}
GROUP BY host
ORDER BY age DESC
LIMIT 1000`, "points", query.Points, "where", query.All(ownRows()...),
		"metric", query.Any(names.TableSysCPUPercent, names.TableSysMemPercent, names.PitwallPointsAccepted), "time", query.InTime)
}
