package alerts

import (
	"fmt"
	"time"

	"github.com/pitwall-otel/pitwall/schema/names"
)

func gpus() []Rule {
	return []Rule{
		{
			UID: "pitwall-gpu-idle", Title: "GPU of a run is idle", Severity: Warning, Dashboard: "pitwall-system", Panel: "GPU utilisation by host and device",
			Window: 15 * time.Minute, For: 5 * time.Minute, Fires: below(5),
			SQL: fmt.Sprintf(`SELECT $__toTime AS time, run_id, host, toString(device) AS gpu, avg(value) AS value
FROM %s
WHERE $__timeFilter(event_time) AND run_id != '' AND metric %s AND match(metric, '^sys\\.gpu\\.\\d+\\.util_percent$')
GROUP BY run_id, host, gpu
HAVING count() >= 10`, points, like(names.TableSysGPURLDeviceIndexUtilPercent)),
			Summary: "{{ $labels.run_id }}: GPU {{ $labels.gpu }} of {{ $labels.host }} is used {{ $values.B }} %",
			Do:      "One idle GPU is a rank that hangs or a worker that died; all idle is a run that waits, and the timeline says for what.",
		},
		{
			UID: "pitwall-gpu-lost", Title: "GPU lost", Severity: Critical, Dashboard: "pitwall-system", Panel: "GPU utilisation by host and device",
			Window: 10 * time.Minute, Fires: above(0),
			SQL:     eventsByDevice(names.EventNvidiaGPULost),
			Summary: "{{ $labels.host }}: GPU {{ $labels.gpu }} has fallen off the bus",
			Do:      "Drain the node. A reset rarely helps; the Xid before it says whether the board, the link or the power is to blame.",
		},
		{
			UID: "pitwall-gpu-xid", Title: "GPU reports an Xid", Severity: Warning, Dashboard: "pitwall-system", Panel: "GPU errors",
			Window: 10 * time.Minute, Fires: above(0),
			SQL: fmt.Sprintf(`SELECT $__toTime AS time, ResourceAttributes[%[1]s] AS host, LogAttributes[%[2]s] AS gpu, LogAttributes[%[3]s] AS xid, count() AS value
FROM training_observability.otel_logs
WHERE %[4]s
GROUP BY host, gpu, xid`, quote(names.AttributeHostName), quote(names.AttributeRLDeviceIndex), quote(names.AttributeNvidiaGPUXid), event(names.EventNvidiaGPUXid)),
			Summary: "{{ $labels.host }}: Xid {{ $labels.xid }} on GPU {{ $labels.gpu }}",
			Do:      "The event's body says what the code means and what to do.",
		},
		{
			UID: "pitwall-gpu-throttled", Title: "GPU is throttled", Severity: Warning, Dashboard: "pitwall-system", Panel: "Throttled time",
			Window: 10 * time.Minute, For: 5 * time.Minute, Fires: above(0.2),
			SQL: fmt.Sprintf(`SELECT $__toTime AS time, host, toString(device) AS gpu, value / 600 AS value
FROM (
%s
)`, increase("host, device", like(names.TableSysGPURLDeviceIndexThrottledS))),
			Summary: "{{ $labels.host }}: GPU {{ $labels.gpu }} is slowed down {{ $values.B | humanizePercentage }} of the time",
			Do:      "The reasons are on the dashboard: heat is the room's or a fan's, power the limit's, hardware slowdown the supply's.",
		},
		{
			UID: "pitwall-disk-full", Title: "Disk is nearly full", Severity: Warning, Dashboard: "pitwall-system", Panel: "File systems",
			Window: 10 * time.Minute, For: 5 * time.Minute, Fires: above(90),
			SQL: fmt.Sprintf(`SELECT $__toTime AS time, host, metric, argMax(value, event_time) AS value
FROM %s
WHERE $__timeFilter(event_time) AND metric %s
GROUP BY host, metric`, points, like(names.TableSysDiskSystemFilesystemMountpointPercent)),
			Summary: "{{ $labels.host }}: {{ $labels.metric }} is {{ $values.B }}",
			Do:      "Old checkpoints first. A collector whose disk is full refuses points, and its senders keep them.",
		},
	}
}

func eventsByDevice(name string) string {
	return fmt.Sprintf(`SELECT $__toTime AS time, ResourceAttributes[%s] AS host, LogAttributes[%s] AS gpu, count() AS value
FROM training_observability.otel_logs
WHERE %s
GROUP BY host, gpu`, quote(names.AttributeHostName), quote(names.AttributeRLDeviceIndex), event(name))
}
