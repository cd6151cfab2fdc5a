package httpserver

import (
	"strings"

	"github.com/pitwall-otel/pitwall/cmd/pitwall-clickhouse/internal/statement"
)

// canStream says that a result may be sent in the chunks the engine makes: only a
// SELECT streams, and only a format without header and footer survives being
// written as one document per chunk.
func canStream(sql, format string) bool {
	switch statement.Keyword(sql) {
	case "SELECT", "WITH", "FROM":
	default:
		return false
	}
	switch strings.ToLower(format) {
	case "native", "rowbinary", "tabseparated", "tsv", "tabseparatedraw", "tsvraw", "raw",
		"csv", "jsoneachrow", "jsonlines", "ndjson", "jsoncompacteachrow":
		return true
	}
	return false
}

func contentType(format string) string {
	name := strings.ToLower(format)
	switch {
	case strings.HasPrefix(name, "jsoneachrow"), strings.HasPrefix(name, "jsoncompacteachrow"),
		strings.HasPrefix(name, "jsonstringseachrow"), name == "jsonlines", name == "ndjson":
		return "application/x-ndjson; charset=UTF-8"
	case strings.HasPrefix(name, "json"):
		return "application/json; charset=UTF-8"
	case strings.HasPrefix(name, "tabseparated"), strings.HasPrefix(name, "tsv"):
		return "text/tab-separated-values; charset=UTF-8"
	case strings.HasPrefix(name, "csvwithnames"):
		return "text/csv; charset=UTF-8; header=present"
	case strings.HasPrefix(name, "csv"):
		return "text/csv; charset=UTF-8; header=absent"
	case strings.HasPrefix(name, "pretty"), name == "vertical", name == "values", name == "markdown":
		return "text/plain; charset=UTF-8"
	}
	return "application/octet-stream"
}
