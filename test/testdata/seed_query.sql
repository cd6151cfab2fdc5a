SELECT metric, count(), avg(value) FROM training_observability.metric_points GROUP BY metric
