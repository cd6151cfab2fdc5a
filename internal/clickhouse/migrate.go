package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrIncompatibleSchema says that a newer Pitwall changed the tables so that this one must not write to them.
var ErrIncompatibleSchema = errors.New("the schema is too new for this binary")

// Migrate brings the target's tables up to date: it runs the migrations that are not recorded, in order, and
// records each. A table the user made keeps its columns and gets only what the migrations add. Several processes
// may do this at once, and a failure in between is mended by the next call.
//
// A schema newer than this binary is left as it is, and is an error ([ErrIncompatibleSchema]) only if this binary
// can no longer write to it; [CheckTable] reports the version.
func Migrate(ctx context.Context, client *Client, target Target) error {
	migrations, err := Migrations(target)
	if err != nil {
		return err
	}
	applied, err := readRecords(ctx, client, target)
	if err != nil {
		return fmt.Errorf("reading %s.%s: %w", target.Database, recordsTable, err)
	}
	if err := applied.compatible(len(migrations)); err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	for _, m := range migrations {
		if applied.versions[m.Version] {
			continue
		}
		for _, statement := range m.Statements {
			if err := client.Exec(ctx, statement, nil); err != nil {
				return fmt.Errorf("migration %04d %s of %s: %w", m.Version, m.Name, target, err)
			}
		}
		if err := client.Exec(ctx, m.Record, nil); err != nil {
			return fmt.Errorf("recording migration %04d %s of %s: %w", m.Version, m.Name, target, err)
		}
	}
	return nil
}

// records is what schema_migrations says about one table.
type records struct {
	versions     map[int]bool
	newest       int
	oldestWriter int
}

// readRecords returns what was applied: nothing, when the database or the records are missing, and also when one
// of the tables is, since then somebody dropped it and it is to be made again with all that belongs to it.
func readRecords(ctx context.Context, client *Client, target Target) (records, error) {
	applied := records{versions: map[int]bool{}}
	rows, err := client.Query(ctx, fmt.Sprintf(
		"SELECT version, max(oldest_writer) FROM %s WHERE table_name = %s GROUP BY version ORDER BY version",
		target.Ident(recordsTable), quoteLiteral(target.Table)), nil)
	if answered, ok := errors.AsType[*Error](err); ok && (answered.Code == codeUnknownDatabase || answered.Code == codeUnknownTable) {
		return applied, nil
	}
	if err != nil {
		return applied, err
	}
	for _, row := range rows {
		if len(row) != 2 {
			return applied, fmt.Errorf("want 2 columns, got %d", len(row))
		}
		version, err := strconv.Atoi(row[0])
		if err != nil {
			return applied, fmt.Errorf("version: %w", err)
		}
		writer, err := strconv.Atoi(row[1])
		if err != nil {
			return applied, fmt.Errorf("oldest_writer: %w", err)
		}
		applied.versions[version] = true
		applied.newest = max(applied.newest, version)
		applied.oldestWriter = max(applied.oldestWriter, writer)
	}
	complete, err := tablesExist(ctx, client, target)
	if err != nil {
		return applied, err
	}
	if !complete {
		clear(applied.versions)
	}
	return applied, nil
}

func tablesExist(ctx context.Context, client *Client, target Target) (bool, error) {
	var names []string
	for _, table := range []string{target.Table, TracesTable, TraceTimesTable, LogsTable} {
		names = append(names, quoteLiteral(table))
		if target.Cluster != "" {
			names = append(names, quoteLiteral(target.localName(table)))
		}
	}
	rows, err := client.Query(ctx, fmt.Sprintf("SELECT name FROM system.tables WHERE database = %s AND name IN (%s)",
		quoteLiteral(target.Database), strings.Join(names, ", ")), nil)
	return len(rows) == len(names), err
}

// compatible returns an error if a newer binary raised the oldest writer above known, this binary's version.
func (r records) compatible(known int) error {
	if r.newest > known && r.oldestWriter > known {
		return fmt.Errorf("%w: the tables are at version %d and want Pitwall with version %d or later, this one has %d",
			ErrIncompatibleSchema, r.newest, r.oldestWriter, known)
	}
	return nil
}
