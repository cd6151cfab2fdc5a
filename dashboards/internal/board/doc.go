// Package board makes Grafana dashboards of the classic (v1) form out of panels with one ClickHouse query each. It holds
// what all of Pitwall's dashboards share: the data source and the variables, colours and the gray "no data", the panel
// presets and the layout in rows, links and the identity of dashboards and panels. The SQL is in package query, the
// dashboards themselves are in dashboards/generate.
//
// What bites:
//   - The data source is a variable, never a name or an `__inputs` entry: only that imports by hand and provisions by file.
//   - A panel's id is made from the dashboard's uid and the panel's title, because alert rules link to it. A new title is a
//     new id.
//   - Values of variables are URL-encoded names (query.VariableValue). What links to such a variable passes the encoded name.
package board
