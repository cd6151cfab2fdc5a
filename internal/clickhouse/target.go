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
	case recordsTable, TracesTable, TraceTimesTable, LogsTable:
		errs = append(errs, fmt.Errorf("table: %s is the name of another of Pitwall's tables", t.Table))
	}
	return errors.Join(errs...)
}

// String is the table's name as people write it.
func (t Target) String() string { return t.Database + "." + t.Table }

// Ident returns the quoted name of a table in the target's database.
func (t Target) Ident(table string) string { return quoteIdent(t.Database) + "." + quoteIdent(table) }

// The methods below are for the templates in migrations/.

// Quote returns the quoted name of anything.
func (Target) Quote(name string) string { return quoteIdent(name) }

// Literal returns a string literal.
func (Target) Literal(value string) string { return quoteLiteral(value) }

// OnCluster returns the clause that makes a statement run on all servers, with a space before it.
func (t Target) OnCluster() string {
	if t.Cluster == "" {
		return ""
	}
	return " ON CLUSTER " + quoteIdent(t.Cluster)
}

// LocalName returns the table that holds the rows: table itself, or on a cluster its part on each server.
func (t Target) LocalName(table string) string {
	if t.Cluster == "" {
		return table
	}
	return table + "_local"
}

// Local is LocalName, quoted and with the database.
func (t Target) Local(table string) string { return t.Ident(t.LocalName(table)) }

// Engine returns an engine of the MergeTree family, replicated on a cluster. The replicated one is without
// arguments: the server's default_replica_path holds the table's UUID, so a dropped table can be made anew.
func (t Target) Engine(engine string) string {
	if t.Cluster == "" {
		return engine
	}
	return "Replicated" + engine
}

// Distributed returns the engine over the local tables, with its sharding key.
func (t Target) Distributed(table, key string) string {
	return fmt.Sprintf("Distributed(%s, %s, %s, %s)",
		quoteLiteral(t.Cluster), quoteLiteral(t.Database), quoteLiteral(t.LocalName(table)), key)
}

// RecordsTable is where applied migrations are recorded.
func (Target) RecordsTable() string { return recordsTable }

func quoteIdent(name string) string {
	return "`" + strings.NewReplacer("\\", "\\\\", "`", "\\`").Replace(name) + "`"
}

func quoteLiteral(value string) string {
	return "'" + strings.NewReplacer("\\", "\\\\", "'", "\\'").Replace(value) + "'"
}
