package clickhouse

import "fmt"

// script is a [Target] as the templates in migrations/ see it.
type script struct{ Target }

// Quote returns the quoted name of anything.
func (script) Quote(name string) string { return quoteIdent(name) }

// OnCluster returns the clause that makes a statement run on all servers, with a space before it.
func (s script) OnCluster() string {
	if s.Cluster == "" {
		return ""
	}
	return " ON CLUSTER " + quoteIdent(s.Cluster)
}

// Local returns the quoted name of the table that holds the rows.
func (s script) Local(table string) string { return s.Ident(s.localName(table)) }

// Engine returns an engine of the MergeTree family, replicated on a cluster. The replicated one is without
// arguments: the server's default_replica_path holds the table's UUID, so a dropped table can be made anew.
func (s script) Engine(engine string) string {
	if s.Cluster == "" {
		return engine
	}
	return "Replicated" + engine
}

// Distributed returns the engine over the local tables, with its sharding key.
func (s script) Distributed(table, key string) string {
	return fmt.Sprintf("Distributed(%s, %s, %s, %s)",
		quoteLiteral(s.Cluster), quoteLiteral(s.Database), quoteLiteral(s.localName(table)), key)
}

// RecordsTable is where applied migrations are recorded.
func (script) RecordsTable() string { return recordsTable }
