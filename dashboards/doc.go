// Package dashboards holds Pitwall's Grafana dashboards: the JSON files beside this one, written by dashboards/generate and
// committed, so that nobody needs Go to use them. Its tests are the gate that every dashboard passes: what is committed is what
// the generator writes, Grafana's own types can read it, and the rules of internal/lint hold. types asks the TypeScript compiler, test/panels runs every query.
//
// Whoever needs the queries reads the JSON: panels[].targets[].rawSql, also of panels inside of rows, templating.list[].query.rawSql
// and annotations.list[].target.rawSql.
package dashboards
