package query

// Runs lists the runs that were alive in the time, the latest first. It asks for what the projection p_runs holds.
func Runs() string {
	return Text(`
SELECT {value} AS value, run_id AS text
FROM
(
    SELECT run_id, metric, min(event_time) AS began, max(event_time) AS seen
    FROM {points}
    GROUP BY run_id, metric
)
WHERE run_id != '' AND seen >= $__fromTime AND began <= $__toTime
GROUP BY run_id
ORDER BY max(seen) DESC
LIMIT 500`, "points", Points, "value", VariableValue("run_id"))
}

// Hosts lists the machines that sent one of the metrics.
func Hosts(metric string, conditions ...string) string {
	return Text(`
SELECT {value} AS value, host AS text
FROM {points}
WHERE {where}
GROUP BY host
ORDER BY host
LIMIT 2000`, "points", Points, "value", VariableValue("host"), "where", All(append(conditions, metric, InTime)...))
}

// HostsOfRuns takes the machines that have rows of the chosen runs, or all.
func HostsOfRuns() string {
	return Text("('${run_id:percentencode}' = '%2A' OR host IN (\n          "+
		"SELECT host FROM {points} WHERE run_id IN ({chosen}) AND {time} GROUP BY host))",
		"points", Points, "chosen", Chosen("run_id"), "time", InTime)
}

// Tags lists the values of an attribute.
func Tags(attribute, metric string, conditions ...string) string {
	return Text(`
SELECT {value} AS value, {tag} AS text
FROM {points}
WHERE {where}
GROUP BY text
HAVING text != ''
ORDER BY text
LIMIT 2000`, "points", Points, "tag", Tag(attribute), "value", VariableValue("text"),
		"where", All(append(conditions, metric, InTime)...))
}

// VariableValue is a text as a value of a variable: URL-encoded, so that it is one word whatever is in it, also in a link.
func VariableValue(text string) string { return "encodeURLComponent(" + text + ")" }

// Chosen is a query for the chosen values of a variable. Grafana's formats for SQL escape quotes and not backslashes, so a name
// with a backslash, or a crafted link, would get out of them. Nothing in a percent-encoded text can end a literal: Grafana
// encodes the value, or all of them as {a,b}, and each value is encoded by itself before (VariableValue).
func Chosen(variable string) string {
	return "SELECT decodeURLComponent(arrayJoin(splitByChar(',', trim(BOTH '{}' FROM decodeURLComponent('${" + variable + ":percentencode}')))))"
}

// AllValue is the value of All.
const AllValue = "*"

// AllOr takes the rows whose text is among the chosen values of a variable, or all of them.
func AllOr(variable, text string) string {
	return "('${" + variable + ":percentencode}' = '%2A' OR " + text + " IN (" + Chosen(variable) + "))"
}

// Several says whether more than one value is chosen: there is a comma between them.
func Several(variable string) string {
	return "position('${" + variable + ":percentencode}', '%2C') > 0"
}
