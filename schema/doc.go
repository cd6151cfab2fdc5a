// Package schema is the registry: what each metric, attribute, span and event is called, in which unit and of which type,
// under which name a metric's points stand in metric_points, and what producers call all of it.
//
// The registry is written in registry/*.yaml, in the form of the OpenTelemetry semantic conventions. Package source reads
// and checks it; the program generate makes the Go tables here of it, docs/schema.md, and constants for Go (package names)
// and Python. Package release compares it with what was released. The running collector has the Go tables only: Load.
//
// Three names bite a newcomer. The producer's name (actor/pg_loss) comes in, and a Profile says what it means. The canonical
// name (rl.loss.policy) is what travels through pipelines. The table name (sys.cpu_percent for system.cpu.busy) is what the
// table's owner queries, and only the metricpoints exporter writes it. Table names may contain attribute values, so one
// metric has many of them.
package schema
