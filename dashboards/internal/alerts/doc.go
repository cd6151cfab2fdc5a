// Package alerts holds the alert rules and writes them as Grafana's provisioning wants them, dashboards/alerts/pitwall.yaml.
//
// A rule's query answers one row for each thing that may be wrong, a run, a device, an engine, with how bad it is; Grafana
// compares that with the rule's threshold. A query that answers nothing fires nothing. What bites: dashboards' variables do
// not exist in alert rules, so a query bounds itself by $__timeFilter alone, and provisioning reads a single $ as a variable
// of its own, so each is written twice.
package alerts
