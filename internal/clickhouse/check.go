package clickhouse

import (
	"context"
	"errors"
	"fmt"
)

// columns is the row contract (design section 2): name and type of each column the exporter writes.
func columns() [][2]string {
	return [][2]string{
		{"event_time", "DateTime64(3)"},
		{"run_id", "LowCardinality(String)"},
		{"host", "LowCardinality(String)"},
		{"rank", "UInt32"},
		{"device", "UInt16"},
		{"step", "UInt64"},
		{"metric", "LowCardinality(String)"},
		{"value", "Float64"},
		{"unit", "LowCardinality(String)"},
		{"tags_json", "String"},
	}
}

// TableError says what a table lacks, or that it is not there.
type TableError struct {
	Database string
	Table    string // "" when the database itself is missing
	Column   string // "" when the table itself is missing
	Found    string // what the column is, "" when it is missing
	Want     string // its type in the row contract
}

func (e *TableError) Error() string {
	switch {
	case e.Table == "":
		return fmt.Sprintf("database %s does not exist", e.Database)
	case e.Column == "":
		return fmt.Sprintf("table %s.%s does not exist", e.Database, e.Table)
	case e.Found == "":
		return fmt.Sprintf("table %s.%s: column %s is missing, want %s", e.Database, e.Table, e.Column, e.Want)
	default:
		return fmt.Sprintf("table %s.%s: column %s is %s, want %s", e.Database, e.Table, e.Column, e.Found, e.Want)
	}
}

// CheckTable compares the target's table with the row contract. Order does not matter, and further columns are
// the user's own: an INSERT that leaves them out gets their defaults. A difference is a [TableError], several are
// joined; the absence of the table or the database is one too.
func CheckTable(ctx context.Context, client *Client, target Target) (TableInfo, error) {
	if err := target.Validate(); err != nil {
		return TableInfo{}, err
	}
	rows, err := client.Query(ctx, fmt.Sprintf(
		"SELECT name, type, default_kind FROM system.columns WHERE database = %s AND table = %s",
		quoteLiteral(target.Database), quoteLiteral(target.Table)), nil)
	if err != nil {
		return TableInfo{}, fmt.Errorf("checking table %s: %w", target, err)
	}
	if len(rows) == 0 {
		err = missing(ctx, client, target)
	} else {
		err = compareColumns(target, rows)
	}
	if err != nil {
		return TableInfo{}, fmt.Errorf("clickhouse %s: %w", client.Address(), err)
	}
	info, err := readTableInfo(ctx, client, target)
	if err != nil {
		return TableInfo{}, fmt.Errorf("checking table %s: %w", target, err)
	}
	return info, nil
}

// missing tells a missing database from a missing table.
func missing(ctx context.Context, client *Client, target Target) error {
	rows, err := client.Query(ctx, "SELECT name FROM system.databases WHERE name = "+quoteLiteral(target.Database), nil)
	switch {
	case err != nil:
		return err
	case len(rows) == 0:
		return &TableError{Database: target.Database}
	default:
		return &TableError{Database: target.Database, Table: target.Table}
	}
}

// compareColumns takes rows of name, type and default kind.
func compareColumns(target Target, rows [][]string) error {
	found := make(map[string]string, len(rows))
	for _, row := range rows {
		if len(row) != 3 {
			return fmt.Errorf("table %s: want 3 columns of system.columns, got %d", target, len(row))
		}
		found[row[0]] = row[1]
		if row[2] == "MATERIALIZED" || row[2] == "ALIAS" {
			found[row[0]] += " " + row[2] // takes no INSERT
		}
	}
	var errs []error
	for _, column := range columns() {
		if name, want := column[0], column[1]; found[name] != want {
			errs = append(errs, &TableError{target.Database, target.Table, name, found[name], want})
		}
	}
	return errors.Join(errs...)
}
