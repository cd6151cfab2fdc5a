// Package schema is the registry of metrics: what each one is called, in which unit, with which attributes, and under
// which name its points stand in metric_points.
//
// The registry is written in registry/*.yaml in the form of the OpenTelemetry semantic conventions, one file per
// domain, with annotations of ours below annotations::pitwall. The files are embedded; Load parses and checks them.
//
// Two names bite a newcomer. The canonical name (system.filesystem.utilization) is what travels through pipelines; the
// table name (sys.disk./data.percent) is what the table's owner queries, and only the metricpoints exporter writes it.
// A table name may contain attribute values, so one metric has many table names.
package schema
