package clickhouse

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"text/template"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// Migration is one numbered step of the schema, rendered for a [Target].
type Migration struct {
	Version  int // 1, 2, 3 ...
	Name     string
	Checksum string // of the template, so the same for every target
	// Statements are to be run in order, each on its own, without the semicolon. Running one again changes nothing.
	Statements []string
	// Record is the statement that writes down that this migration was applied.
	Record string
}

// oldestWriter is the first version of the schema whose binaries may write what this binary's migrations make. A
// migration that older binaries cannot write to raises it to its own number.
const oldestWriter = 1

// Migrations renders every migration, in order.
func Migrations(target Target) ([]Migration, error) {
	if err := target.Validate(); err != nil {
		return nil, err
	}
	entries, err := migrationFiles.ReadDir("migrations")
	if err != nil {
		return nil, fmt.Errorf("reading the embedded migrations: %w", err)
	}
	migrations := make([]Migration, 0, len(entries))
	for i, entry := range entries {
		m, err := renderMigration(entry.Name(), target)
		if err != nil {
			return nil, fmt.Errorf("migration %s: %w", entry.Name(), err)
		}
		if m.Version != i+1 {
			return nil, fmt.Errorf("migration %s: want number %04d", entry.Name(), i+1)
		}
		migrations = append(migrations, m)
	}
	return migrations, nil
}

func renderMigration(file string, target Target) (Migration, error) {
	text, err := migrationFiles.ReadFile("migrations/" + file)
	if err != nil {
		return Migration{}, err
	}
	number, name, ok := strings.Cut(strings.TrimSuffix(file, ".sql"), "_")
	version, err := strconv.Atoi(number)
	if !ok || err != nil {
		return Migration{}, fmt.Errorf("the name is not NNNN_name.sql")
	}
	parsed, err := template.New(file).Option("missingkey=error").Parse(string(text))
	if err != nil {
		return Migration{}, err
	}
	var sql strings.Builder
	if err := parsed.Execute(&sql, script{target}); err != nil {
		return Migration{}, err
	}
	sum := sha256.Sum256(text)
	checksum := hex.EncodeToString(sum[:8])
	return Migration{
		Version:    version,
		Name:       name,
		Checksum:   checksum,
		Statements: splitStatements(sql.String()),
		Record: fmt.Sprintf("INSERT INTO %s (table_name, version, name, checksum, oldest_writer) VALUES (%s, %d, %s, %s, %d)",
			target.Ident(recordsTable), quoteLiteral(target.Table), version, quoteLiteral(name), quoteLiteral(checksum), oldestWriter),
	}, nil
}

// splitStatements cuts at semicolons that end a line; the comment before a statement stays with it.
func splitStatements(sql string) []string {
	var statements []string
	for part := range strings.SplitSeq(sql+"\n", ";\n") {
		if part = strings.TrimSpace(part); part != "" {
			statements = append(statements, part)
		}
	}
	return statements
}
