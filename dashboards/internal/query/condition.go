package query

import (
	"strconv"
	"strings"
)

// Points is the table of all points.
const Points = "training_observability.metric_points"

// maxDevices is how many GPUs of a host the dashboards look for: names in the table hold the index of the GPU.
const maxDevices = 16

// InTime bounds rows of Points to the dashboard's time.
const InTime = "$__timeFilter(event_time)"

// OfRuns takes the rows of the chosen runs.
func OfRuns() string { return "run_id IN (" + Chosen("run_id") + ")" }

// OfHosts takes the rows of the chosen machines.
func OfHosts() string { return AllOr("host", "host") }

// Is takes one metric, by its name in the table.
func Is(metric string) string { return "metric = " + Quote(metric) }

// Any takes some metrics.
func Any(metrics ...string) string {
	quoted := make([]string, len(metrics))
	for i, metric := range metrics {
		quoted[i] = Quote(metric)
	}
	return "metric IN (" + strings.Join(quoted, ", ") + ")"
}

// OfGPUs takes a metric of every GPU. The table is sorted by metric: a list of names reads their rows only, where LIKE
// reads those of all the GPUs' metrics.
func OfGPUs(template string) string {
	metrics := make([]string, maxDevices)
	for i := range metrics {
		metrics[i] = Fill(template, "rl.device.index", strconv.Itoa(i))
	}
	return Any(metrics...)
}

// AnyOf takes the metrics whose names differ only in what stands in the braces of template.
func AnyOf(template string) string {
	var pattern strings.Builder
	for rest := template; rest != ""; {
		literal, after, found := strings.Cut(rest, "{")
		pattern.WriteString(strings.NewReplacer("%", `\\%`, "_", `\\_`).Replace(literal))
		if found {
			_, after, _ = strings.Cut(after, "}")
			pattern.WriteString("%")
		}
		rest = after
	}
	return "metric LIKE '" + pattern.String() + "'"
}

// Fill puts values in the place of attributes: pairs of attribute and value.
func Fill(template string, pairs ...string) string {
	for i := 0; i+1 < len(pairs); i += 2 {
		template = strings.ReplaceAll(template, "{"+pairs[i]+"}", pairs[i+1])
	}
	return template
}

// Between is the part of a metric's name between two others: the device of sys.net.DEVICE.sent_bytes_per_s.
func Between(before, after string) string {
	return "substring(metric, " + strconv.Itoa(len(before)+1) + ", length(metric) - " + strconv.Itoa(len(before)+len(after)) + ")"
}

// Tag is the value of an attribute in tags_json as text, empty when it is not there.
func Tag(attribute string) string { return "JSONExtractString(tags_json, " + Quote(attribute) + ")" }

// TagIs takes rows by an attribute.
func TagIs(attribute, value string) string { return Tag(attribute) + " = " + Quote(value) }

// TagIn takes rows by an attribute.
func TagIn(attribute string, values ...string) string {
	quoted := make([]string, len(values))
	for i, value := range values {
		quoted[i] = Quote(value)
	}
	return Tag(attribute) + " IN (" + strings.Join(quoted, ", ") + ")"
}

// Attempt is the run's attempt, 0 where nobody says it.
const Attempt = "JSONExtractUInt(tags_json, 'rl.run.attempt')"

// Quote writes a text of ours as SQL.
func Quote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}

// ByRun is the name of a line of a run: what tells lines of one run apart, and before it the run where several are chosen or
// nothing else is there. Parts are SQL texts; empty ones leave no gap.
func ByRun(parts ...string) string {
	if len(parts) == 0 {
		return "run_id"
	}
	return "ifNull(nullIf(arrayStringConcat(arrayFilter(part -> part != '', [if(" + Several("run_id") + ", toString(run_id), ''), " +
		strings.Join(parts, ", ") + "]), ' '), ''), toString(run_id))"
}

// All joins conditions, one per line.
func All(conditions ...string) string { return strings.Join(conditions, "\n      AND ") }
