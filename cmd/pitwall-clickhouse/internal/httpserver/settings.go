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
	changes := make([]string, 0, len(settings))
	for _, s := range settings {
		changes = append(changes, s.Name+" = "+quoteText(s.Value))
	}
	return conn.Exec("SET " + strings.Join(changes, ", "))
}

// saved is what a request changes in a kept session, to be put back.
type saved struct {
	database string
	changes  string // of settings, as SET has them
}

// save notes the session's own database and values of what apply is about to set.
func (q *request) save(conn *chdb.Conn) (before saved, err error) {
	if before.database, err = scalar(conn, "SELECT currentDatabase()"); err != nil {
		return saved{}, err
	}
	names := []string{quoteText("log_comment")}
	for _, s := range q.settings {
		names = append(names, quoteText(s.Name))
	}
	// Name, whether the session has changed it, and value, one after the other.
	list, err := scalar(conn, `SELECT arrayStringConcat(groupArray(name || '\0' || toString(changed) || '\0' || value), '\0')`+
		" FROM system.settings WHERE name IN ("+strings.Join(names, ", ")+")")
	if err != nil {
		return saved{}, err
	}
	fields := strings.Split(list, "\x00")
	var changes []string
	for ; len(fields) >= 3; fields = fields[3:] {
		value := "DEFAULT"
		if fields[1] == "1" {
			value = quoteText(fields[2])
		}
		changes = append(changes, fields[0]+" = "+value)
	}
	before.changes = strings.Join(changes, ", ")
	return before, nil
}

func (b saved) restore(conn *chdb.Conn, moved bool) error {
	if moved {
		if err := conn.Exec("USE " + quoteName(b.database)); err != nil {
			return err
		}
	}
	if b.changes == "" {
		return nil
	}
	return conn.Exec("SET " + b.changes)
}

func quoteText(s string) string { return quote(s, "'") }
func quoteName(s string) string { return quote(s, "`") }

func quote(s, mark string) string {
	return mark + strings.NewReplacer(`\`, `\\`, mark, `\`+mark).Replace(s) + mark
}
