// Command pitwall-schema prints the SQL that makes Pitwall's tables, for those who run with create_schema: false.
//
//	pitwall-schema | clickhouse-client --multiquery
//	pitwall-schema --database metrics --table points --cluster main > schema.sql
//
// Every statement may be run again. The records in schema_migrations are written too, so that a collector with
// create_schema: true later goes on from there.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/pitwall-otel/pitwall/internal/clickhouse"
)

func main() {
	switch err := run(os.Args[1:], os.Stdout, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintf(os.Stderr, "pitwall-schema: %v\n", err)
		os.Exit(2)
	}
}

func run(args []string, out, messages io.Writer) error {
	var target clickhouse.Target
	flags := flag.NewFlagSet("pitwall-schema", flag.ContinueOnError)
	flags.SetOutput(messages)
	flags.Usage = func() {
		fmt.Fprint(messages, "Prints the SQL of Pitwall's tables, to be run by hand instead of create_schema: true:\n"+
			"  pitwall-schema | clickhouse-client --multiquery\n")
		flags.PrintDefaults()
	}
	flags.StringVar(&target.Database, "database", clickhouse.DefaultDatabase, "the exporter's `database`")
	flags.StringVar(&target.Table, "table", clickhouse.DefaultTable, "the exporter's `table` of points")
	flags.StringVar(&target.Cluster, "cluster", "", "the exporter's `cluster`: replicated and distributed tables, ON CLUSTER")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	migrations, err := clickhouse.Migrations(target)
	if err != nil {
		return err
	}
	return write(out, target, migrations)
}

// write prints one statement per paragraph, each ended by a semicolon at a line's end.
func write(out io.Writer, target clickhouse.Target, migrations []clickhouse.Migration) error {
	var sql strings.Builder
	fmt.Fprintf(&sql, "-- Pitwall's tables around %s. Running this again changes nothing.\n", target)
	for _, m := range migrations {
		fmt.Fprintf(&sql, "\n-- Migration %04d: %s\n", m.Version, strings.ReplaceAll(m.Name, "_", " "))
		for _, statement := range append(m.Statements, m.Record) {
			fmt.Fprintf(&sql, "%s;\n", statement)
		}
	}
	_, err := io.WriteString(out, sql.String())
	return err
}
