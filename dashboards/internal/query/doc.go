// Package query composes the SQL of the dashboards: what to read of metric_points, how to bring it down to the width of a
// panel, how to get rates out of counters and percentiles out of histograms. A query is text with the macros of Grafana's
// ClickHouse plugin and the variables of the dashboard in it.
//
// What bites:
//   - Conditions begin with run_id and metric, which the table is sorted by, and bound the time. Names of metrics come from
//     schema/names.
//   - An aggregate over no rows is 0 or NaN in ClickHouse, and a chart then shows what nobody measured. So averages are
//     avgOrNull, and divisors nullIf.
//   - A resumed run goes through some steps twice. With the variable attempt at "latest" a point counts while no later
//     attempt has reached its step, by the rows themselves: nobody has to say where an attempt began.
//   - The table holds cumulative counters of the engines and of Pitwall, and rates of the host. Only increases count, so a
//     restart is no negative rate.
//   - No "[[": Grafana takes it for a variable.
package query
