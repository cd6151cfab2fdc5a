package alerts

import (
	"fmt"
	"time"

	"github.com/pitwall-otel/pitwall/schema/names"
)

// engine names an engine in a row's tags.
const engine = "JSONExtractString(tags_json, 'service.instance.id')"

func engines() []Rule {
	latest := `SELECT $__toTime AS time, run_id, ` + engine + ` AS engine, %s AS value
FROM ` + points + `
WHERE $__timeFilter(event_time) AND metric = %s
GROUP BY run_id, engine`
	return []Rule{
		{
			UID: "pitwall-engine-down", Title: "Inference engine is down", Severity: Critical, Dashboard: "pitwall-engines", Panel: "Engines",
			Window: 5 * time.Minute, For: 2 * time.Minute, Fires: below(1),
			SQL:     fmt.Sprintf(latest, "argMax(value, event_time)", quote(names.InferenceEngineUp)),
			Summary: "{{ $labels.engine }} does not answer",
			Do:      "The router goes on without it, and answers 200: the rollout gets slower, not red.",
		},
		{
			UID: "pitwall-kv-cache-full", Title: "KV cache is full", Severity: Warning, Dashboard: "pitwall-engines", Panel: "KV cache in use",
			Window: 10 * time.Minute, For: 5 * time.Minute, Fires: above(0.95),
			SQL:     fmt.Sprintf(latest, "avg(value)", quote(names.InferenceKVCacheUsage)),
			Summary: "{{ $labels.engine }}: KV cache {{ $values.B | humanizePercentage }} full for minutes",
			Do:      "Requests are preempted and computed twice: fewer requests at once, or more engines.",
		},
		{
			UID: "pitwall-queue-grows", Title: "Requests pile up before an engine", Severity: Warning, Dashboard: "pitwall-engines", Panel: "Waiting requests",
			Window: 10 * time.Minute, For: 5 * time.Minute, Fires: above(20),
			// The least of the last three minutes above the most of the first three.
			SQL: fmt.Sprintf(latest, `minIf(value, event_time > $__toTime_ms - INTERVAL 3 MINUTE)
  - maxIf(value, event_time < $__fromTime_ms + INTERVAL 3 MINUTE)`, quote(names.InferenceRequestsWaiting)),
			Summary: "{{ $labels.engine }}: {{ $values.B }} more requests wait than ten minutes ago",
			Do:      "Running requests at their limit, or a KV cache that is full, say which of the two it is.",
		},
	}
}
