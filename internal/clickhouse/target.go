package clickhouse

import (
	"errors"
	"fmt"
	"strings"
)

// Tables whose names are fixed: Grafana's ClickHouse data source looks for them under contrib's names.
const (
	TracesTable     = "otel_traces"
	TraceTimesTable = "otel_traces_trace_id_ts"
	LogsTable       = "otel_logs"
)

// Defaults of [Target], the names of the row contract.
const (
	DefaultDatabase = "training_observability"
	DefaultTable    = "metric_points"
)

const recordsTable = "schema_migrations"

// Target names what the migrations make and the exporter writes to.
type Target struct {
	Database string
	Table    string
	// Cluster, when set, puts the tables on every server of that cluster: replicated <table>_local and a
	// Distributed <table> over them.
	Cluster string
}

// Validate reports names ClickHouse or a file system cannot hold.
func (t Target) Validate() error {
	var errs []error
	for _, field := range []struct {
		key, value string
		optional   bool
	}{{"database", t.Database, false}, {"table", t.Table, false}, {"cluster", t.Cluster, true}} {
		switch {
		case field.value == "" && !field.optional:
			errs = append(errs, fmt.Errorf("%s: must not be empty", field.key))
		case len(field.value) > 128:
			errs = append(errs, fmt.Errorf("%s: longer than 128 bytes", field.key))
		case strings.ContainsFunc(field.value, func(r rune) bool { return r < ' ' || r == 0x7F || r == 0xFFFD }):
			errs = append(errs, fmt.Errorf("%s: %q: control characters are not allowed", field.key, field.value))
		}
	}
	switch t.Table {
	case recordsTable, TracesTable, TraceTimesTable, LogsTable,
		"run_events", "run_events_mv", "run_checkpoints", "run_benchmarks", "run_milestones", "run_samples", "run_state_events":
		errs = append(errs, fmt.Errorf("table: %s is the name of another of Pitwall's tables", t.Table))
	}
	return errors.Join(errs...)
}

// String is the table's name as people write it.
func (t Target) String() string { return t.Database + "." + t.Table }

// Ident returns the quoted name of a table in the target's database.
func (t Target) Ident(table string) string { return quoteIdent(t.Database) + "." + quoteIdent(table) }

// localName returns the table that holds the rows: table itself, or on a cluster its part on each server.
func (t Target) localName(table string) string {
	if t.Cluster == "" {
		return table
	}
	return table + "_local"
}

func quoteIdent(name string) string {
	return "`" + strings.NewReplacer("\\", "\\\\", "`", "\\`").Replace(name) + "`"
}

func quoteLiteral(value string) string {
	return "'" + strings.NewReplacer("\\", "\\\\", "'", "\\'").Replace(value) + "'"
}
