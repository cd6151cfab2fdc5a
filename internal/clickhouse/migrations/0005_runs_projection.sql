-- Without this setting a table with a projection refuses DELETE FROM, which worked before.
ALTER TABLE {{.Local .Table}}{{.OnCluster}}
    MODIFY SETTING lightweight_mutation_projection_mode = 'rebuild';

-- The list of runs and the latest values. It is used by queries that ask for these very aggregates. For new parts.
ALTER TABLE {{.Local .Table}}{{.OnCluster}}
    ADD PROJECTION IF NOT EXISTS p_runs
    (
        SELECT
            run_id,
            metric,
            min(event_time),
            max(event_time),
            max(step),
            count(),
            sum(value),
            argMax(value, event_time)
        GROUP BY
            run_id,
            metric
    );
