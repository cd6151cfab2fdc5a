-- Lists of a run. What is told twice counts once.

-- A checkpoint, by all that was said of it.
CREATE VIEW IF NOT EXISTS {{.Ident "run_checkpoints"}}{{.OnCluster}} AS
SELECT
    run_id,
    attributes['rl.checkpoint.id'] AS checkpoint_id,
    max(step) AS step,
    max(attempt) AS attempt,
    if(countIf(event = 'rl.checkpoint.saved') > 0, minIf(event_time, event = 'rl.checkpoint.saved'), NULL) AS saved_at,
    argMaxIf(attributes['rl.checkpoint.path'], event_time, event = 'rl.checkpoint.saved') AS path,
    argMaxIf(attributes['rl.checkpoint.format'], event_time, event = 'rl.checkpoint.saved') AS format,
    argMaxIf(toUInt64OrNull(attributes['rl.checkpoint.size']), event_time, event = 'rl.checkpoint.saved') AS size_bytes,
    argMaxIf(toUInt64OrNull(attributes['rl.checkpoint.files']), event_time, event = 'rl.checkpoint.saved') AS files,
    argMaxIf(toFloat64OrNull(attributes['rl.checkpoint.save.duration']), event_time, event = 'rl.checkpoint.saved') AS save_seconds,
    argMaxIf(attributes['rl.checkpoint.sha256'], event_time, attributes['rl.checkpoint.sha256'] != '') AS sha256,
    argMaxIf(attributes['rl.checkpoint.keep'], event_time, event = 'rl.checkpoint.saved') = 'true' AS keep,
    argMaxIf(attributes['rl.checkpoint.host'], event_time, event = 'rl.checkpoint.published') AS hosted_by,
    argMaxIf(attributes['rl.checkpoint.url'], event_time, event = 'rl.checkpoint.published') AS url,
    if(countIf(event = 'rl.checkpoint.published') > 0, minIf(event_time, event = 'rl.checkpoint.published'), NULL) AS published_at,
    multiIf(
        argMax(event = 'rl.checkpoint.deleted', (event_time, event = 'rl.checkpoint.deleted')), 'deleted',
        argMaxIf(attributes['rl.checkpoint.status'], event_time, event = 'rl.checkpoint.saved') != '',
        argMaxIf(attributes['rl.checkpoint.status'], event_time, event = 'rl.checkpoint.saved'),
        'complete'
    ) AS status
FROM {{.Ident "run_events"}}
WHERE event IN ('rl.checkpoint.saved', 'rl.checkpoint.deleted', 'rl.checkpoint.published')
GROUP BY run_id, checkpoint_id;

-- The latest score of a checkpoint at each task.
CREATE VIEW IF NOT EXISTS {{.Ident "run_benchmarks"}}{{.OnCluster}} AS
SELECT
    run_id,
    attributes['rl.checkpoint.id'] AS checkpoint_id,
    attributes['rl.benchmark.suite'] AS suite,
    attributes['rl.benchmark.task'] AS task,
    attributes['rl.benchmark.harness'] AS harness,
    toUInt32OrZero(attributes['rl.k']) AS k,
    max(step) AS step,
    max(event_time) AS measured_at,
    argMax(toFloat64OrNull(attributes['rl.benchmark.score']), event_time) AS score
FROM {{.Ident "run_events"}}
WHERE event = 'rl.checkpoint.benchmark'
GROUP BY run_id, checkpoint_id, suite, task, harness, k;

-- A milestone as it was set last, and when it was reached first.
CREATE VIEW IF NOT EXISTS {{.Ident "run_milestones"}}{{.OnCluster}} AS
SELECT
    run_id,
    attributes['rl.milestone.name'] AS milestone,
    argMaxIf(toUInt64OrNull(attributes['rl.milestone.target_tokens']), event_time, attributes['rl.milestone.target_tokens'] != '') AS target_tokens,
    argMaxIf(toUInt64OrNull(attributes['rl.milestone.target_step']), event_time, attributes['rl.milestone.target_step'] != '') AS target_step,
    if(countIf(attributes['rl.milestone.status'] = 'reached') > 0, minIf(event_time, attributes['rl.milestone.status'] = 'reached'), NULL) AS reached_at
FROM {{.Ident "run_events"}}
WHERE event = 'rl.milestone'
GROUP BY run_id, milestone;

-- Generated samples. Their texts are there only under the producer's content policy. Bound the time.
CREATE VIEW IF NOT EXISTS {{.Ident "run_samples"}}{{.OnCluster}} AS
SELECT
    event_time,
    run_id,
    attempt,
    step,
    attributes['rl.sample.id'] AS sample_id,
    attributes['rl.prompt.id'] AS prompt_id,
    attributes['rl.group.id'] AS group_id,
    attributes['rl.environment.name'] AS environment,
    attributes['rl.sample.split'] AS split,
    toFloat64OrNull(attributes['rl.sample.reward']) AS reward,
    toFloat64OrNull(attributes['rl.sample.advantage']) AS advantage,
    toUInt64OrNull(attributes['rl.sample.length']) AS length,
    toUInt64OrNull(attributes['rl.sample.prompt_length']) AS prompt_length,
    attributes['rl.sample.finish_reason'] AS finish_reason,
    attributes['rl.sample.prompt'] AS prompt,
    attributes['rl.sample.completion'] AS completion,
    attributes['rl.sample.golden'] AS golden,
    attributes['rl.sample.text.policy'] AS text_policy,
    attributes['rl.sample.text.truncated'] = 'true' AS text_truncated,
    trace_id
FROM {{.Ident "run_events"}}
WHERE event = 'rl.sample';

-- What is said of states: that they began, are still open, ended. A state without an end is open. Bound the time.
CREATE VIEW IF NOT EXISTS {{.Ident "run_state_events"}}{{.OnCluster}} AS
SELECT
    Timestamp AS event_time,
    if(LogAttributes['rl.run.id'] != '', LogAttributes['rl.run.id'], ResourceAttributes['rl.run.id']) AS run_id,
    toUInt32OrZero(if(LogAttributes['rl.run.attempt'] != '', LogAttributes['rl.run.attempt'], ResourceAttributes['rl.run.attempt'])) AS attempt,
    LogAttributes['rl.state.id'] AS state_id,
    LogAttributes['rl.state.op'] AS op,
    LogAttributes['rl.state.name'] AS state,
    LogAttributes['rl.phase'] AS phase,
    multiIf(
        LogAttributes['rl.lane'] != '', LogAttributes['rl.lane'],
        ResourceAttributes['rl.role'] != '', concat(ResourceAttributes['rl.role'], '/', ResourceAttributes['rl.rank']),
        concat(LogAttributes['rl.role'], '/', LogAttributes['rl.rank'])
    ) AS lane,
    if(LogAttributes['host.name'] != '', LogAttributes['host.name'], ResourceAttributes['host.name']) AS host,
    toUInt64OrZero(LogAttributes['rl.step']) AS step,
    toFloat64OrNull(LogAttributes['rl.state.expected']) AS expected_seconds
FROM {{.Ident "otel_logs"}}
WHERE event = 'rl.state';
