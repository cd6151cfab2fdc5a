package alerts

import (
	"fmt"
	"time"

	"github.com/pitwall-otel/pitwall/schema/names"
)

func collectors() []Rule {
	return []Rule{
		{
			UID: "pitwall-points-dropped", Title: "Collector drops points", Severity: Critical, Dashboard: "pitwall-collector", Panel: "Dropped and refused points/s",
			Window: 15 * time.Minute, Fires: above(0),
			SQL: fmt.Sprintf(`SELECT $__toTime AS time, host, JSONExtractString(tags_json, %[2]s) AS reason, sum(value) AS value
FROM (
%[1]s
)
WHERE reason != 'duplicate'
GROUP BY host, reason`, increase("host, tags_json", "= "+quote(names.PitwallPointsDropped)), quote(names.AttributePitwallDropReason)),
			Summary: "{{ $labels.host }}: {{ $values.B }} points dropped, {{ $labels.reason }}",
			Do:      "docs/operations.md says what each reason means. A point that was sent twice is not counted here.",
		},
		{
			UID: "pitwall-points-waiting", Title: "Points wait for the database", Severity: Warning, Dashboard: "pitwall-collector", Panel: "Queued points",
			Window: 5 * time.Minute, For: 10 * time.Minute, Fires: above(1e6),
			SQL: fmt.Sprintf(`SELECT $__toTime AS time, host, JSONExtractString(tags_json, %s) AS component, argMax(value, event_time) AS value
FROM %s
WHERE $__timeFilter(event_time) AND metric = %s
GROUP BY host, component`, quote(names.AttributePitwallComponent), points, quote(names.PitwallPointsQueued)),
			Summary: "{{ $labels.host }}: {{ $values.B }} points wait in the log",
			Do:      "The collector's status and log say why. Nothing is lost while the log has room.",
		},
		{
			UID: "pitwall-host-silent", Title: "Host sends nothing", Severity: Warning, Dashboard: "pitwall-collector", Panel: "Freshness of the table",
			Window: 30 * time.Minute, For: 2 * time.Minute, Fires: above(180),
			SQL: fmt.Sprintf(`SELECT $__toTime AS time, host, dateDiff('second', max(event_time), $__toTime) AS value
FROM %s
WHERE $__timeFilter(event_time) AND host != '' AND metric = %s
GROUP BY host`, points, quote(names.TableSysCPUPercent)),
			Summary: "{{ $labels.host }}: no metrics for {{ $values.B }} s",
			Do:      "The node, its network, or its collector: the log of what it could not send is on its disk.",
		},
	}
}
