package httpserver

import (
	"strings"

	"github.com/pitwall-otel/pitwall/cmd/pitwall-clickhouse/internal/chdb"
)

// apply sets the request's database and settings in the session. log_comment is
// how a running statement is found again: the engine chooses query_id itself.
func (q *request) apply(conn *chdb.Conn, id string, kept bool) error {
	if q.database != "" {
		if err := conn.Exec("USE " + quoteName(q.database)); err != nil {
			return err
		}
	}
	settings := append([]chdb.Param{{Name: "log_comment", Value: id}}, q.effective()...)
	// A kept session could not leave readonly again; admit alone guards it.
	if q.readOnly && !kept {
		settings = append(settings, chdb.Param{Name: "readonly", Value: "2"})
	}
	return set(conn, settings)
}

// effective are the URL's settings but readonly, which becomes part of q.readOnly.
func (q *request) effective() []chdb.Param {
	out := make([]chdb.Param, 0, len(q.settings)+2)
	for _, s := range q.settings {
		if s.Name != "readonly" {
			out = append(out, s)
		} else if isTrue(s.Value) {
			q.readOnly = true
		}
	}
	return out
}

func set(conn *chdb.Conn, settings []chdb.Param) error {
	if len(settings) == 0 {
		return nil
	}
	var sql strings.Builder
	for i, s := range settings {
		sql.WriteString([]string{"SET ", ", "}[min(i, 1)])
		sql.WriteString(s.Name)
		sql.WriteString(" = ")
		sql.WriteString(quoteText(s.Value))
	}
	return conn.Exec(sql.String())
}

// saved is what a request changes in a kept session, to be put back.
type saved struct {
	database string
	sets     []string
}

// save notes the session's own database and values of what apply is about to set.
func (q *request) save(conn *chdb.Conn) (saved, error) {
	names := []string{quoteText("log_comment")}
	for _, s := range q.settings {
		names = append(names, quoteText(s.Name))
	}
	var before saved
	var err error
	if before.database, err = scalar(conn, "SELECT currentDatabase()"); err != nil {
		return saved{}, err
	}
	// quoteString makes the engine itself write the statements that restore.
	text, err := scalar(conn, "SELECT arrayStringConcat(groupArray('SET ' || name || ' = ' || if(changed, quoteString(value), 'DEFAULT')), '\\0')"+
		" FROM system.settings WHERE name IN ("+strings.Join(names, ", ")+")")
	if err != nil {
		return saved{}, err
	}
	if text != "" {
		before.sets = strings.Split(text, "\x00")
	}
	return before, nil
}

func (b saved) restore(conn *chdb.Conn, moved bool) error {
	if moved && b.database != "" {
		if err := conn.Exec("USE " + quoteName(b.database)); err != nil {
			return err
		}
	}
	for _, sql := range b.sets {
		if err := conn.Exec(sql); err != nil {
			return err
		}
	}
	return nil
}

var escapes = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "`", "\\`")

func quoteText(s string) string { return "'" + escapes.Replace(s) + "'" }
func quoteName(s string) string { return "`" + escapes.Replace(s) + "`" }
