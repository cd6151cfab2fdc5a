package main

import (
	"github.com/pitwall-otel/pitwall/dashboards/internal/board"
	"github.com/pitwall-otel/pitwall/dashboards/internal/query"
	"github.com/pitwall-otel/pitwall/schema/names"
)

// mean takes the points of a distribution that are its mean, or that say no statistic at all.
func mean() string { return query.TagIn(names.AttributeRLStat, "mean", "") }

func horizon(n string) query.Curve {
	return query.OfMetric(names.TableTrainLoss).With(query.TagIs(names.AttributeRLHorizon, n))
}

func training() *board.Board {
	b := board.New("training", "Training", "How the training of the chosen runs goes: losses, throughput, optimiser, rewards and lengths.",
		runs(), attempts())
	events(b)
	loss := query.OfMetric(names.TableLoss)
	losses := query.Curve{Metric: query.Any(names.TableLoss, names.RLLossPolicy), Line: query.ByRun()}
	validation := query.OfMetric(names.TableValLoss).By(names.AttributeRLDataset, names.AttributeRLHorizon)
	tokens := query.OfMetric(names.TableTrainThroughput).With(query.Tag(names.AttributeRLScope) + " != 'gpu'")
	batches := query.OfMetric(names.TableTrainBatchRate)
	total := query.OfMetric(names.TableTrainTokensTotal).Taking("max")
	duration := query.OfMetric(names.RLStepDuration).Taking("max")
	nonfinite := query.OfMetric(names.RLNonfiniteCount).Taking("max")

	b.Row("Now",
		onePerRun("Loss", "Latest loss that the optimiser minimised, of each run (metric loss).", "short", loss),
		onePerRun("Validation loss", "Latest loss on data that is not trained on, in nats, by data set and horizon, how many tokens ahead (metric val.loss).", "short", validation),
		onePerRun("Token/s", "Latest throughput of the whole run in tokens per second (metric train.throughput, without the values per GPU).", "short", tokens),
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
		curve{"Token/s", "Tokens trained per second, whole run (metric train.throughput, without the values per GPU).", "short", tokens, fromZero},
		curve{"Batch/s", "Batches trained per second (metric train.batch_rate).", "short", batches, fromZero},
		curve{"Tokens trained", "Tokens trained on since the first attempt (metric train.tokens_total); the highest of all ranks.", "short", total, fromZero},
		curve{"Step time", "Wall time of a step, of the slowest rank (metric rl.step.duration).", "s", duration, fromZero},
		curve{"Model FLOPs utilisation", "What the model needs per second over what the accelerators could do at best (metric rl.mfu).", "percentunit", query.OfMetric(names.RLMFU), share},
		curve{"Time of phases", "How long each phase of a step took, of the slowest rank (metric rl.phase.duration by rl.phase).", "s", query.OfMetric(names.RLPhaseDuration).By(names.AttributeRLPhase).With(mean()).Taking("max"), phased},
	)
	curves(b, "Optimiser",
		curve{"Gradient norm", "Norm of the gradient before clipping; spikes come before a diverging loss (metric rl.grad_norm).", "short", query.OfMetric(names.RLGradNorm).With(mean()), log},
		curve{"Learning rate", "Learning rate, by optimiser group where there are several (metric rl.learning_rate).", "sci", query.OfMetric(names.RLLearningRate).By(names.AttributeRLOptimizerGroup), nil},
		curve{"Clipped", "Share of tokens or sequences whose update was clipped, by kind; high means that samples no longer fit the policy (metric rl.clip.fraction).", "percentunit", query.OfMetric(names.RLClipFraction).By(names.AttributeRLClipKind).With(mean()), fromZero},
	)
	curves(b, "Reinforcement learning",
		curve{"Reward", "Mean reward that the update used, by environment (metric rl.reward).", "short", query.OfMetric(names.RLReward).By(names.AttributeRLEnvironmentName).With(mean()), nil},
		curve{"KL to the reference", "KL divergence from the reference model: how far training has moved the policy (metric rl.kl.ref).", "short", query.OfMetric(names.RLKLRef).With(mean()), nil},
		curve{"KL of the update", "KL divergence of the policy from itself before the update; jumps come before collapses (metric rl.kl.old).", "short", query.OfMetric(names.RLKLOld).With(mean()), nil},
		curve{"Entropy", "Entropy of the policy per token; towards 0 it no longer explores (metric rl.entropy).", "short", query.OfMetric(names.RLEntropy).With(mean()), fromZero},
		curve{"KL between trainer and engine", "Divergence of the probabilities of trainer and engine for the same tokens; it should stay near 0 (metric rl.kl.rollout_mismatch).", "short", query.OfMetric(names.RLKLRolloutMismatch).With(mean()), nil},
		curve{"Evaluation score", "Scores of evaluations during the run, by data set (metric rl.eval.score).", "short", query.OfMetric(names.RLEvalScore).By(names.AttributeRLDataset, names.AttributeRLEvalMetric).With(mean()), dots},
	)
	curves(b, "Samples",
		curve{"Length of answers", "Tokens of the generated answers, by statistic (metric rl.response.length).", "short", query.OfMetric(names.RLResponseLength).By(names.AttributeRLStat).With(query.TagIn(names.AttributeRLStat, "mean", "max", "p90", "")), fromZero},
		curve{"Truncated answers", "Share of answers that hit the length limit; they are mostly graded as wrong (metric rl.response.truncated_ratio).", "percentunit", query.OfMetric(names.RLResponseTruncatedRatio).By(names.AttributeRLEnvironmentName), fromZero},
		curve{"Groups that teach nothing", "Share of groups whose samples all got the same reward (metric rl.group.zero_std_ratio).", "percentunit", query.OfMetric(names.RLGroupZeroStdRatio), fromZero},
		curve{"Staleness", "Weight versions between generating and training on a sample; 0 is on-policy (metric rl.staleness).", "short", query.OfMetric(names.RLStaleness).By(names.AttributeRLStat).With(query.TagIn(names.AttributeRLStat, "mean", "max", "")), fromZero},
		curve{"Samples dropped", "Samples that were generated and not trained on, by reason (metric rl.samples.dropped).", "short", query.OfMetric(names.RLSamplesDropped).By(names.AttributeRLDropReason).Taking("sum"), fromZero},
		curve{"Rollout token/s", "Tokens generated per second of rollout, of the whole run (global) or per GPU, as the run reports it (metric rl.rollout.throughput by rl.scope).", "short", query.OfMetric(names.RLRolloutThroughput).By(names.AttributeRLScope), fromZero},
	)
	return b
}
