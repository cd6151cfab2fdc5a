package httpserver

import (
	"github.com/pitwall-otel/pitwall/cmd/pitwall-clickhouse/internal/chdb"
	"github.com/pitwall-otel/pitwall/cmd/pitwall-clickhouse/internal/statement"
)

// admit returns the class of the one statement in t, or why it may not run. The
// engine's grants refuse most of what must not be; this refuses what happens
// outside of them: several statements at once, the client's own commands (which
// do not parse and would be run), and files read by functions and clauses.
func admit(conn *chdb.Conn, q *request, t *text) (chdb.Class, error) {
	sql := t.sql
	if t.insert != nil {
		// The data is not the parser's business.
		sql = t.insert.Head + " FORMAT Null"
	}
	class, count, err := conn.Classify(sql)
	switch {
	case err != nil:
		return class, err
	case count > 1:
		return class, exception(codeSyntax, "Multi-statements are not allowed")
	case count == 0 || class == chdb.Unknown:
		return class, whyNot(conn, sql)
	}
	if statement.NeedsCanonical(sql) {
		canonical, err := canonical(conn, sql, q.params)
		if err != nil {
			return class, err
		}
		if what := statement.Forbidden(canonical); what != "" {
			return class, exception(codeAccessDenied, "Not enough privileges. %s is not allowed here", what)
		}
	}
	switch {
	case class == chdb.MutatingGlobal, class == chdb.Control && !statement.SessionOnly(sql):
		return class, exception(codeAccessDenied, "Not enough privileges. This server does not run statements of this kind")
	case q.readOnly && class == chdb.Mutating, q.readOnly && statement.Keyword(sql) == "KILL":
		return class, exception(codeReadOnly, "Cannot execute query in readonly mode. For queries over HTTP, method GET implies readonly. You should use method POST for modifying queries")
	}
	return class, nil
}

// canonical is the engine's own writing of the statement, with the parameters
// that stand for names in their places.
func canonical(conn *chdb.Conn, sql string, params []chdb.Param) (string, error) {
	text, err := scalar(conn, "SELECT formatQuerySingleLine({statement:String})", chdb.Param{Name: "statement", Value: escapeParam(sql)})
	if err != nil {
		return "", err
	}
	return text, nil
}

// whyNot asks for the syntax error of a statement without running any of it.
func whyNot(conn *chdb.Conn, sql string) error {
	if _, err := canonical(conn, sql, nil); err != nil {
		return err
	}
	return exception(codeAccessDenied, "Not enough privileges. This server does not run statements of this kind")
}
