package main

import (
	"github.com/pitwall-otel/pitwall/dashboards/internal/board"
	"github.com/pitwall-otel/pitwall/dashboards/internal/query"
	"github.com/pitwall-otel/pitwall/schema/names"
)

// mean takes the points of a distribution that are its mean, or that say no statistic at all.
func mean() string { return query.TagIn(names.AttributeRLStat, "mean", "") }

func horizon(n string) query.Curve {
	return query.OfMetric(names.TableTrainLoss).By(names.AttributeRLDataset).With(query.TagIs(names.AttributeRLHorizon, n))
}

// throughput is of the whole run, and per GPU of runs that report nothing else; of the whole step or of a phase.
func throughput() query.Curve {
	metric := query.Is(names.TableTrainThroughput)
	each := query.TagIs(names.AttributeRLScope, "gpu")
	return query.Curve{
		Metric: metric,
		Line:   query.ByRun(query.Tag(names.AttributeRLPhase), "if("+each+", 'per GPU', '')"),
		Where: []string{query.Fill("(NOT ({each}) OR run_id NOT IN (\n          SELECT run_id FROM {points} WHERE {runs} AND {metric} AND {time} AND NOT ({each})))",
			"each", each, "points", query.Points, "runs", query.OfRuns(), "metric", metric, "time", query.InTime)},
	}
}

// evaluation tells apart what has no common mean: the best of eight answers and the mean of eight.
func evaluation() query.Curve {
	c := query.OfMetric(names.RLEvalScore).With(mean())
	k := query.Tag(names.AttributeRLK)
	c.Line = query.ByRun(query.Tag(names.AttributeRLDatasetNamespace), query.Tag(names.AttributeRLDataset), query.Tag(names.AttributeRLEvalMetric),
		"concat("+query.Tag(names.AttributeRLKPick)+", if("+k+" = '', '', concat('@', "+k+")))", query.Tag(names.AttributeRLSampleSet))
	return c
}

func training() *board.Board {
	b := board.New("training", "Training", "How the training of the chosen runs goes: losses, throughput, optimiser, rewards and lengths.",
		runs(), attempts())
	events(b)
	loss := query.OfMetric(names.TableLoss)
	losses := query.Curve{Metric: query.Any(names.TableLoss, names.RLLossPolicy), Line: query.ByRun()}.With(mean())
	validation := query.OfMetric(names.TableValLoss).By(names.AttributeRLDataset, names.AttributeRLHorizon)
	batches := query.OfMetric(names.TableTrainBatchRate)
	total := query.OfMetric(names.TableTrainTokensTotal).Taking("max")
	duration := query.OfMetric(names.RLStepDuration).Taking("max")
	nonfinite := query.OfMetric(names.RLNonfiniteCount).Taking("max")

	b.Row("Now",
		onePerRun("Loss", "Latest loss that the optimiser minimised, of each run (metric loss).", "short", loss),
		onePerRun("Validation loss", "Latest loss on data that is not trained on, in nats, by data set and horizon, how many tokens ahead (metric val.loss).", "short", validation),
		onePerRun("Token/s", "Latest throughput in tokens per second, of the whole run, or per GPU where the run reports nothing else (metric train.throughput by rl.phase).", "short", throughput()),
		onePerRun("Batch/s", "Latest batches trained per second (metric train.batch_rate).", "short", batches),
		onePerRun("Tokens trained", "Tokens that the run has trained on since its first attempt, the highest value seen (metric train.tokens_total).", "short", total),
		onePerRun("Step", "Step that the run has reached (highest step of metric loss, or of rl.loss.policy where that is all that the run logs).", "none", losses.Scaled("toFloat64(step)").Taking("max")),
	)
	curves(b, "Loss",
		curve{"Loss", "Loss that the optimiser minimised, mean over ranks (metric loss).", "short", loss, nil},
		curve{"Loss t+1", "Cross entropy of the next token in nats (metric train.loss, horizon 1).", "short", horizon("1"), nil},
		curve{"Loss t+2", "Cross entropy of the token after the next one in nats, of the multi-token-prediction head (metric train.loss, horizon 2).", "short", horizon("2"), nil},
		curve{"Validation loss", "Cross entropy on data that is not trained on, in nats, by data set and horizon, how many tokens ahead (metric val.loss).", "short", validation, dots},
		curve{"Policy loss", "Policy-gradient term of the loss; it swings around 0 in a healthy run (metric rl.loss.policy).", "short", query.OfMetric(names.RLLossPolicy).With(mean()), nil},
		curve{"Values that are not finite", "Losses that were NaN or infinite, per step; anything above 0 deserves a look (metric rl.nonfinite.count).", "short", nonfinite, fromZero},
	)
	curves(b, "Throughput",
		curve{"Token/s", "Tokens trained per second, of the whole run, or per GPU where the run reports nothing else (metric train.throughput by rl.phase).", "short", throughput(), fromZero},
		curve{"Batch/s", "Batches trained per second (metric train.batch_rate).", "short", batches, fromZero},
		curve{"Tokens trained", "Tokens trained on since the first attempt (metric train.tokens_total); the highest of all ranks.", "short", total, fromZero},
		curve{"Step time", "Wall time of a step, of the slowest rank (metric rl.step.duration).", "s", duration, fromZero},
		curve{"Model FLOPs utilisation", "What the model needs per second over what the accelerators could do at best (metric rl.mfu by rl.phase and rl.model.role).", "percentunit", query.OfMetric(names.RLMFU).By(names.AttributeRLPhase, names.AttributeRLModelRole), share},
		curve{"Time of phases", "How long each phase of a step took, of the slowest rank (metric rl.phase.duration by rl.phase).", "s", query.OfMetric(names.RLPhaseDuration).By(names.AttributeRLPhase).With(mean()).Taking("max"), phased},
	)
	curves(b, "Optimiser",
		curve{"Gradient norm", "Norm of the gradient before clipping; spikes come before a diverging loss (metric rl.grad_norm by rl.model.role).", "short", query.OfMetric(names.RLGradNorm).By(names.AttributeRLModelRole).With(mean()), log},
		curve{"Learning rate", "Learning rate, by model and optimiser group where there are several (metric rl.learning_rate).", "sci", query.OfMetric(names.RLLearningRate).By(names.AttributeRLModelRole, names.AttributeRLOptimizerGroup), nil},
		curve{"Clipped", "Share of tokens or sequences whose update was clipped, by kind; high means that samples no longer fit the policy (metric rl.clip.fraction).", "percentunit", query.OfMetric(names.RLClipFraction).By(names.AttributeRLClipKind).With(mean()), fromZero},
	)
	curves(b, "Reinforcement learning",
		curve{"Reward", "Mean reward that the update used, by environment, part of the reward and set of samples (metric rl.reward).", "short", query.OfMetric(names.RLReward).By(names.AttributeRLEnvironmentName, names.AttributeRLRewardName, names.AttributeRLSampleSet).With(mean()), nil},
		curve{"Score", "Mean reward as the grader gave it, before shaping and penalties, by environment and set of samples (metric rl.score).", "short", query.OfMetric(names.RLScore).By(names.AttributeRLEnvironmentName, names.AttributeRLSampleSet).With(mean()), nil},
		curve{"KL to the reference", "KL divergence from the reference model: how far training has moved the policy (metric rl.kl.ref by estimator).", "short", query.OfMetric(names.RLKLRef).By(names.AttributeRLKLEstimator).With(mean()), nil},
		curve{"KL of the update", "KL divergence of the policy from itself before the update; jumps come before collapses (metric rl.kl.old).", "short", query.OfMetric(names.RLKLOld).With(mean()), nil},
		curve{"Entropy", "Entropy of the policy per token; towards 0 it no longer explores (metric rl.entropy).", "short", query.OfMetric(names.RLEntropy).With(mean()), fromZero},
		curve{"KL between trainer and engine", "Divergence of the probabilities of trainer and engine for the same tokens; it should stay near 0 (metric rl.kl.rollout_mismatch by estimator).", "short", query.OfMetric(names.RLKLRolloutMismatch).By(names.AttributeRLKLEstimator).With(mean()), nil},
		curve{"Evaluation score", "Scores of evaluations during the run, by data set, what was scored, and how many answers per prompt made a score how (metric rl.eval.score).", "short", evaluation(), wideDots},
	)
	curves(b, "Samples",
		curve{"Length of answers", "Tokens of the generated answers, by statistic and set of samples (metric rl.response.length).", "short", query.OfMetric(names.RLResponseLength).By(names.AttributeRLStat, names.AttributeRLSampleSet).With(query.TagIn(names.AttributeRLStat, "mean", "max", "p90", "")), fromZero},
		curve{"Truncated answers", "Share of answers that hit the length limit; they are mostly graded as wrong (metric rl.response.truncated_ratio).", "percentunit", query.OfMetric(names.RLResponseTruncatedRatio).By(names.AttributeRLEnvironmentName, names.AttributeRLSampleSet), fromZero},
		curve{"Groups that teach nothing", "Share of groups whose samples all got the same reward (metric rl.group.zero_std_ratio).", "percentunit", query.OfMetric(names.RLGroupZeroStdRatio), fromZero},
		curve{"Staleness", "Weight versions between generating and training on a sample; 0 is on-policy (metric rl.staleness).", "short", query.OfMetric(names.RLStaleness).By(names.AttributeRLStat, names.AttributeRLStalenessPart).With(query.TagIn(names.AttributeRLStat, "mean", "max", "")), fromZero},
		curve{"Samples dropped", "Samples that were generated and not trained on, by reason (metric rl.samples.dropped).", "short", query.OfMetric(names.RLSamplesDropped).By(names.AttributeRLDropReason, names.AttributeRLSampleSplit).Taking("sum"), fromZero},
		curve{"Rollout token/s", "Tokens generated per second of rollout, of the whole run (global) or per GPU, as the run reports it (metric rl.rollout.throughput by rl.scope).", "short", query.OfMetric(names.RLRolloutThroughput).By(names.AttributeRLScope), fromZero},
	)
	return b
}
