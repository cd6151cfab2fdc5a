package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// TableInfo is what [CheckTable] learned beside the columns.
type TableInfo struct {
	// Engine is the table's engine, such as MergeTree or Distributed.
	Engine string
	// Distributed says that an INSERT must be sent with distributed_foreground_insert=1: otherwise the server
	// acknowledges before the rows are on their shards.
	Distributed bool
	// DeduplicationWindow is how many INSERTs the table remembers by token, 0 for none or unknown.
	DeduplicationWindow int
	// DeduplicateInsert says that the server has the setting of that name (26.7 does), which wins over insert_deduplicate.
	DeduplicateInsert bool
	// SchemaVersion is the newest migration recorded, 0 for a table Pitwall did not make.
	SchemaVersion int
	// Warnings are for a person: what works, but not as promised.
	Warnings []string
}

func readTableInfo(ctx context.Context, client *Client, target Target) (TableInfo, error) {
	var info TableInfo
	engine, full, err := tableEngine(ctx, client, target.Database, target.Table)
	if err != nil {
		return info, err
	}
	info.Engine, info.Distributed = engine, engine == "Distributed"
	holder := target.String()
	if info.Distributed {
		database, table, ok := parseDistributed(full)
		if !ok {
			return info, fmt.Errorf("engine %q: want Distributed with literal names", full)
		}
		holder = database + "." + table
		if engine, full, err = tableEngine(ctx, client, database, table); err != nil {
			return info, err
		}
	}
	if info.DeduplicationWindow, err = deduplicationWindow(ctx, client, engine, full); err != nil {
		return info, err
	}
	if info.DeduplicationWindow == 0 {
		info.Warnings = append(info.Warnings, fmt.Sprintf(
			"table %s (engine %s) has no deduplication window in force: an INSERT sent again after a lost answer is stored twice", holder, engine))
	}
	rows, err := client.Query(ctx, "SELECT name FROM system.settings WHERE name = 'deduplicate_insert'", nil)
	if err != nil && !denied(err) {
		return info, err
	}
	info.DeduplicateInsert = len(rows) > 0
	return info, info.readVersion(ctx, client, target)
}

// tableEngine returns "" for a table that does not exist or may not be seen.
func tableEngine(ctx context.Context, client *Client, database, table string) (engine, full string, err error) {
	rows, err := client.Query(ctx, fmt.Sprintf("SELECT engine, engine_full FROM system.tables WHERE database = %s AND name = %s",
		quoteLiteral(database), quoteLiteral(table)), nil)
	if err != nil || len(rows) == 0 || len(rows[0]) != 2 {
		return "", "", err
	}
	return rows[0][0], rows[0][1], nil
}

// deduplicationWindow reads the setting from the table, or the server's default for it.
func deduplicationWindow(ctx context.Context, client *Client, engine, full string) (int, error) {
	setting, defaults := "non_replicated_deduplication_window", "system.merge_tree_settings"
	if strings.HasPrefix(engine, "Replicated") || strings.HasPrefix(engine, "Shared") {
		setting, defaults = "replicated_deduplication_window", "system.replicated_merge_tree_settings"
	}
	if !strings.HasSuffix(engine, "MergeTree") {
		return 0, nil
	}
	if match := regexp.MustCompile(`\b` + setting + ` = (\d+)`).FindStringSubmatch(full); match != nil {
		return strconv.Atoi(match[1])
	}
	rows, err := client.Query(ctx, fmt.Sprintf("SELECT value FROM %s WHERE name = %s", defaults, quoteLiteral(setting)), nil)
	if denied(err) {
		return 0, nil
	}
	if err != nil || len(rows) == 0 || len(rows[0]) == 0 {
		return 0, err
	}
	return strconv.Atoi(rows[0][0])
}

// parseDistributed takes the database and table out of Distributed('cluster', 'database', 'table', ...).
func parseDistributed(full string) (database, table string, ok bool) {
	match := regexp.MustCompile(`^Distributed\('(?:[^'\\]|\\.)*', '((?:[^'\\]|\\.)*)', '((?:[^'\\]|\\.)*)'`).FindStringSubmatch(full)
	if match == nil {
		return "", "", false
	}
	unquote := strings.NewReplacer(`\\`, `\`, `\'`, `'`)
	return unquote.Replace(match[1]), unquote.Replace(match[2]), true
}

// readVersion compares what is recorded with what this binary knows.
func (i *TableInfo) readVersion(ctx context.Context, client *Client, target Target) error {
	migrations, err := Migrations(target)
	if err != nil {
		return err
	}
	applied, err := readRecords(ctx, client, target)
	if denied(err) {
		return nil
	}
	if err != nil {
		return err
	}
	i.SchemaVersion = applied.newest
	if applied.newest > len(migrations) {
		i.Warnings = append(i.Warnings, fmt.Sprintf(
			"the tables of %s are at version %d, made by a newer Pitwall; this one knows version %d", target, applied.newest, len(migrations)))
	}
	return applied.compatible(len(migrations))
}

// denied says that the account may not read what would only have been information: one that may insert into the
// table and nothing else is a sound set-up.
func denied(err error) bool {
	answered, ok := errors.AsType[*Error](err)
	return ok && answered.Code == codeAccessDenied
}
