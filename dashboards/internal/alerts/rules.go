package alerts

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/pitwall-otel/pitwall/schema/names"
)

// Rules returns every alert rule that is shipped.
func Rules() []Rule {
	return append(append(append(training(), gpus()...), engines()...), collectors()...)
}

func above(value float64) Condition { return Condition{"gt", value} }

func below(value float64) Condition { return Condition{"lt", value} }

// like matches every name that a table name's template stands for. An underscore in LIKE stands for any character, which
// is harmless here.
func like(template string) string {
	return "LIKE " + quote(variables.ReplaceAllString(template, "%"))
}

var variables = regexp.MustCompile(`\{[^}]*\}`)

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `\'`) + "'" }

const points = "training_observability.metric_points"

// event selects log records with one of the registry's event names.
func event(name string) string {
	return "$__timeFilter(Timestamp) AND LogAttributes['event.name'] = " + quote(name)
}

// increase is how much counters that are stored as they stand have grown in the window, by label; a restart counts from 0.
func increase(labels, metric string) string {
	return fmt.Sprintf(`SELECT %[1]s, sum(grown) AS value
FROM (
  SELECT %[1]s, greatest(0, if(value >= before, value - before, value)) AS grown
  FROM (
    SELECT *, lagInFrame(value, 1, value) OVER (
      PARTITION BY run_id, metric, host, rank, device, tags_json ORDER BY event_time
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS before
    FROM %[2]s
    WHERE $__timeFilter(event_time) AND metric %[3]s
  )
)
GROUP BY %[1]s`, labels, points, metric)
}

func training() []Rule {
	steps := fmt.Sprintf(`SELECT run_id, step, min(event_time) AS at
    FROM %s
    WHERE $__timeFilter(event_time) AND metric IN (%s, %s) AND step > 0
    GROUP BY run_id, step`, points, quote(names.TableLoss), quote(names.RLLossPolicy)) // which is all that some frameworks log
	return []Rule{
		{
			UID: "pitwall-run-stalled", Title: "Run makes no steps", Severity: Critical, Dashboard: "pitwall-run", Panel: "Runs",
			Window: 6 * time.Hour, For: time.Minute, Fires: above(3),
			// A step's length is the median of the window's; below 20 s three of them are no reason to wake anybody.
			SQL: fmt.Sprintf(`SELECT $__toTime AS time, run_id, dateDiff('second', last, $__toTime) / greatest(median, 20) AS value
FROM (
  SELECT run_id, max(at) AS last, quantileExactIf(0.5)(gap, gap > 0) AS median
  FROM (
    SELECT run_id, at, dateDiff('millisecond', lagInFrame(at, 1, at) OVER (PARTITION BY run_id ORDER BY at
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW), at) / 1000 AS gap
    FROM (
    %s
    )
  )
  GROUP BY run_id
  HAVING count() > 3
) AS stepping
LEFT JOIN (
  SELECT ResourceAttributes[%s] AS run_id, max(Timestamp) AS finished
  FROM training_observability.otel_logs
  WHERE %s
  GROUP BY run_id
) AS ended USING run_id
WHERE finished < last`, steps, quote(names.AttributeRLRunID), event(names.EventRLRunFinished)),
			Summary: "{{ $labels.run_id }}: no new step for {{ $values.B }} step lengths",
			Do:      "Look at the timeline: the phase that is open, and the rank it is open on, is where the run hangs.",
		},
		{
			UID: "pitwall-loss-not-finite", Title: "Loss is not a number", Severity: Critical, Dashboard: "pitwall-training", Panel: "Values that are not finite",
			Window: 10 * time.Minute, Fires: above(0),
			SQL: fmt.Sprintf(`SELECT $__toTime AS time, run_id, countIf(NOT isFinite(value)) AS value
FROM %s
WHERE $__timeFilter(event_time) AND metric = %s
GROUP BY run_id`, points, quote(names.TableLoss)),
			Summary: "{{ $labels.run_id }}: the loss is NaN or infinite",
			Do:      "Stop the run and resume from the last checkpoint before the step; the gradient's norm shows when it began.",
		},
		{
			UID: "pitwall-loss-spike", Title: "Loss jumped", Severity: Warning, Dashboard: "pitwall-training", Panel: "Loss",
			Window: time.Hour, For: 2 * time.Minute, Fires: above(6),
			// In robust standard deviations of the window: the last three steps against all of it.
			SQL: fmt.Sprintf(`SELECT $__toTime AS time, run_id,
  (arrayAvg(arraySlice(losses, -3)) - median) / nullIf(1.4826 * arrayReduce('quantileExact(0.5)', arrayMap(x -> abs(x - median), losses)), 0) AS value
FROM (
  SELECT run_id, arrayMap(x -> x.2, arraySort(x -> x.1, groupArray((step, loss)))) AS losses,
    arrayReduce('quantileExact(0.5)', losses) AS median
  FROM (
    SELECT run_id, step, avg(value) AS loss
    FROM %s
    WHERE $__timeFilter(event_time) AND metric = %s AND isFinite(value)
    GROUP BY run_id, step
  )
  GROUP BY run_id
  HAVING length(losses) >= 20
)`, points, quote(names.TableLoss)),
			Summary: "{{ $labels.run_id }}: the loss is {{ $values.B }} deviations above its median",
			Do:      "Compare with the gradient's norm, the data's bucket and the learning rate at the same step.",
		},
	}
}
