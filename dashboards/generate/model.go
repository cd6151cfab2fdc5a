package main

import (
	"github.com/pitwall-otel/pitwall/dashboards/internal/board"
	"github.com/pitwall-otel/pitwall/dashboards/internal/query"
	"github.com/pitwall-otel/pitwall/schema/names"
)

// layer is a layer's number as the name of a lane, so that 10 comes after 9.
const layer = "leftPad(JSONExtractString(tags_json, 'rl.layer'), 3, '0')"

// byLayer is a heatmap of a metric with a lane for each layer. It shows the first of the chosen runs only where runs differ
// in nothing but their names, so lanes say the run where several are chosen.
func byLayer(title, about, unit, metric string, conditions ...string) *board.Panel {
	s := query.Sampled{
		Metric: query.Is(metric), Line: query.ByRun(layer, query.Tag(names.AttributeRLSite)),
		Where: append([]string{query.OfRuns(), query.Tag(names.AttributeRLLayer) + " != ''"}, conditions...),
	}
	return board.Heat(board.Text{Title: title, About: about, Unit: unit}, s.OverTime()).Scheme("Turbo").Every("1m")
}

// noLayer takes the values over all layers, where a metric also has one for each.
func noLayer() string { return query.Tag(names.AttributeRLLayer) + " = ''" }

// ofSites is the mean over layers of a metric that comes by layer, site and statistic.
func ofSites(metric string) query.Curve {
	return query.OfMetric(metric).By(names.AttributeRLSite).With(mean())
}

// worst is the greatest of all layers.
func worst(metric string) query.Curve {
	return query.OfMetric(metric).By(names.AttributeRLSite).With(greatest()).Taking("max")
}

// greatest takes the greatest values, and the means of who sends nothing else.
func greatest() string { return query.TagIn(names.AttributeRLStat, "max", "mean", "") }

func model() *board.Board {
	b := board.New("model", "Model", "What happens inside the model: mixture of experts, sparse attention, hyper-connections, recurrence.",
		runs(), attempts())
	events(b)
	b.Row("Now",
		onePerRun("NULL router loss", "Latest loss that steers routers towards null experts (metric moe.router.null_loss).", "short", query.OfMetric(names.TableMOERouterNullLoss).With(noLayer())),
		board.Bars(board.Text{Title: "Router loss", About: "Latest loss that steers the routers, by kind (metric moe.router.loss).", Unit: "short"}, query.OfMetric(names.TableMOERouterLoss).By(names.AttributeRLMOELossKind).With(noLayer()).Last()).Size(8, 4),
		onePerRun("NULL ratio", "Latest share of routed slots that null experts took, which compute nothing (metric moe.null_ratio).", "percentunit", query.OfMetric(names.TableMOENullRatio).With(noLayer(), mean())),
		onePerRun("Recurrence depth", "Latest mean number of passes through the recurrent block (metric recur.depth).", "short", query.OfMetric(names.TableRecurDepth).With(mean())),
		onePerRun("Greatest forward gain", "Latest greatest amplification of the residual streams by hyper-connections, by site; far above 1 explodes with depth (metric mhc.gain_max).", "short", worst(names.TableMhcGainMax)).Lights(board.Green, board.Limit{From: 2, Colour: board.Yellow}, board.Limit{From: 10, Colour: board.Red}),
		onePerRun("Selected by sparse attention", "Latest share of the context that sparse attention selected (metric gsa.selected_ratio).", "percentunit", query.OfMetric(names.TableGsaSelectedRatio).With(mean())),
	)
	curves(b, "Mixture of experts",
		curve{"NULL router loss", "Loss that steers routers towards the wanted share of null experts, mean over layers (metric moe.router.null_loss).", "short", query.OfMetric(names.TableMOERouterNullLoss).With(noLayer()), nil},
		curve{"MoE router loss", "Losses that steer the routers, by kind, mean over layers (metric moe.router.loss).", "short", query.OfMetric(names.TableMOERouterLoss).By(names.AttributeRLMOELossKind).With(noLayer()), nil},
		curve{"NULL ratio", "Share of routed slots that null experts took; it is compute saved (metric moe.null_ratio).", "percentunit", query.OfMetric(names.TableMOENullRatio).With(mean()), share},
		curve{"Imbalance of experts", "How far the load of the expert with most tokens is above an even one; 0 is balanced, 1 is twice the even load (metric moe.load.max_vio).", "short", query.OfMetric(query.Fill(names.TableMOELoadRLMOEViolationVio, names.AttributeRLMOEViolation, "max")).Taking("max"), wide},
	)
	b.Row("Experts by layer and subject",
		byLayer("NULL ratio by layer", "Share of routed slots that null experts took, a lane for each layer (metric moe.null_ratio).", "percentunit", names.TableMOENullRatio, mean()).Colours("Turbo", false, 0, 1),
		board.Heat(board.Text{
			Title: "Load of experts", Unit: "percentunit",
			About: "Share of a layer's routed tokens that each expert got, mean over layers; lanes are experts (metric moe.expert.load). Bright lanes are overloaded.",
		}, query.Sampled{
			Metric: query.Is(names.TableMOEExpertLoad), Where: []string{query.OfRuns()},
			Line: query.ByRun("leftPad(JSONExtractString(tags_json, 'rl.expert'), 4, '0')"),
		}.OverTime()).Scheme("Turbo").Every("1m"),
		board.Table(board.Text{
			Title: "Favourite tokens of experts", Unit: "short",
			About: "The ten tokens that each expert was sent most often, at the latest step that has them (metric moe.expert.token_count). A token's text is content and is not stored: the number is its place in the vocabulary.",
		}, favouriteTokens()).Size(12, 10).Column("times", board.OwnBar()...),
		board.Heat(board.Text{
			Title: "Fourier power by subject or bucket", Unit: "short",
			About: "Spectral power of the routing over the data of a subject or bucket; lanes are subject and frequency (metric moe.fourier.power).",
		}, query.Sampled{
			Metric: query.Is(names.TableMOEFourierPower), Where: []string{query.OfRuns()},
			Line: query.ByRun(query.Tag(names.AttributeRLSubject), query.Tag(names.AttributeRLDataBucket), "leftPad(JSONExtractString(tags_json, 'rl.frequency'), 2, '0')"),
		}.OverTime()).Scheme("Turbo").Every("1m").Size(12, 10),
	)
	attention(b)
	return b
}

func attention(b *board.Board) {
	gate := query.OfMetric(query.Fill(names.TableGsaGateRLStat, names.AttributeRLStat, "mean"))
	curves(b, "Gated sparse attention",
		curve{"Opening of the gates", "Mean opening of the gates of gated sparse attention, 0 to 1 (metric gsa.gate.mean).", "percentunit", gate, share},
		curve{"Selected share", "Share of the context that sparse attention selected (metric gsa.selected_ratio).", "percentunit", query.OfMetric(names.TableGsaSelectedRatio).By(names.AttributeRLStat), fromZero},
		curve{"Entropy of attention", "Entropy of the attention over what was selected, in nats (metric gsa.entropy).", "short", query.OfMetric(names.TableGsaEntropy).By(names.AttributeRLStat), fromZero},
	)
	curves(b, "Hyper-connections (mHC)",
		curve{"Row sum error", "Largest distance of a row sum of the mixing matrix from 1, of the worst layer, by site; near 0 is right (metric mhc.row_sum_err).", "short", worst(names.TableMhcRowSumErr), fromZero},
		curve{"Column sum error", "Largest distance of a column sum of the mixing matrix from 1, of the worst layer, by site; near 0 is right (metric mhc.col_sum_err).", "short", worst(names.TableMhcColSumErr), fromZero},
		curve{"Forward gain", "Largest amplification of the streams on the way forward, of the worst layer, by site (metric mhc.gain_max).", "short", worst(names.TableMhcGainMax), nil},
		curve{"Backward gain", "Largest amplification of gradients on the way back, of the worst layer, by site (metric mhc.grad_gain_max).", "short", worst(names.TableMhcGradGainMax), nil},
		curve{"Off-diagonal mass", "Share of the mixing matrix off its diagonal, mean over layers, by site; 0 means that streams do not mix at all (metric mhc.offdiag_mass).", "percentunit", ofSites(names.TableMhcOffdiagMass), share},
		curve{"Similarity of streams", "Similarity of the residual streams, mean over layers, by site; 1 means that they are copies (metric mhc.stream_similarity).", "short", ofSites(names.TableMhcStreamSimilarity), share},
	)
	b.Row("Layers",
		byLayer("Forward gain by layer", "Amplification of the streams on the way forward, a lane for each layer and site (metric mhc.gain_max).", "short", names.TableMhcGainMax, greatest()),
		byLayer("Selected share by layer", "Share of the context that sparse attention selected, a lane for each layer (metric gsa.selected_ratio).", "percentunit", names.TableGsaSelectedRatio, mean()),
	)
	iteration := query.OfMetric(names.TableRecurLossGain).By(names.AttributeRLRecurrenceIteration)
	curves(b, "Recurrence",
		curve{"Depth", "Passes through the recurrent block, by statistic (metric recur.depth).", "short", query.OfMetric(names.TableRecurDepth).By(names.AttributeRLStat), fromZero},
		curve{"Gain of one more pass", "How much each pass lowers the loss; a line for each pass (metric recur.loss_gain).", "short", iteration, nil},
		curve{"Time of a pass", "Time of one pass, a line for each (metric recur.time_s).", "s", query.OfMetric(names.TableRecurTimeS).By(names.AttributeRLRecurrenceIteration), fromZero},
	)
}

// favouriteTokens are of the latest step only: each point stands for a window of its own.
func favouriteTokens() string {
	return query.Text(`
SELECT
    run_id AS run,
    toUInt32OrZero({layer}) AS layer,
    toUInt32OrZero({expert}) AS expert,
    {token} AS token,
    value AS times,
    step
FROM {points}
WHERE {runs}
      AND {metric}
      AND {time}
      AND (run_id, step) IN (
          SELECT run_id, max(step) FROM {points} WHERE {runs} AND {metric} AND {time} GROUP BY run_id)
ORDER BY run, layer, expert, times DESC
LIMIT 10 BY run, layer, expert
LIMIT 2000`,
		"layer", query.Tag(names.AttributeRLLayer), "expert", query.Tag(names.AttributeRLExpert), "token", query.Tag(names.AttributeRLTokenID),
		"points", query.Points, "runs", query.OfRuns(), "metric", query.Is(names.TableMOEExpertTokenCount), "time", query.InTime)
}
