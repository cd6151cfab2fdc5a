package httpserver

import (
	"strings"

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
	if err := refuse(conn, sql); err != nil {
		return class, err
	}
	if class == chdb.Control && statement.ChangesTable(sql) {
		class = chdb.Mutating
	}
	switch {
	case class == chdb.MutatingGlobal, class == chdb.Control && !statement.SessionOnly(sql):
		return class, exception(codeAccessDenied, "Not enough privileges. This server does not run statements of this kind")
	case q.readOnly && class == chdb.Mutating, q.readOnly && statement.Keyword(sql) == "KILL":
		return class, exception(codeReadOnly, "Cannot execute query in readonly mode. For queries over HTTP, method GET implies readonly. You should use method POST for modifying queries")
	}
	return class, nil
}

// refuse returns why the text of a statement may not run, or nil.
func refuse(conn *chdb.Conn, sql string) error {
	if !statement.NeedsCanonical(sql) {
		return nil
	}
	text, err := canonical(conn, sql)
	if err != nil {
		return err
	}
	if what := statement.Forbidden(text); what != "" {
		return exception(codeAccessDenied, "Not enough privileges. %s is not allowed here", what)
	}
	return nil
}

// canonical is the engine's own writing of a statement.
func canonical(conn *chdb.Conn, sql string) (string, error) {
	return scalar(conn, "SELECT formatQuerySingleLine({statement:String})", chdb.Param{Name: "statement", Value: escapeParam(sql)})
}

// whyNot asks for the syntax error of a statement without running any of it.
func whyNot(conn *chdb.Conn, sql string) error {
	if _, err := canonical(conn, sql); err != nil {
		e := asException(err)
		// The user's statement is at fault, not the one that asks about it.
		if message, _, found := strings.Cut(e.Message, ": In scope SELECT formatQuerySingleLine("); found {
			e.Message = message + " (SYNTAX_ERROR)"
		}
		return e
	}
	return exception(codeAccessDenied, "Not enough privileges. This server does not run statements of this kind")
}
