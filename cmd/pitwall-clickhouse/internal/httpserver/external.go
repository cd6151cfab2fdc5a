package httpserver

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"

	"github.com/pitwall-otel/pitwall/cmd/pitwall-clickhouse/internal/chdb"
	"github.com/pitwall-otel/pitwall/cmd/pitwall-clickhouse/internal/statement"
)

// externalSpec is what the URL says of an external table.
type externalSpec struct{ format, structure string }

func (e externalSpec) with(suffix, value string) externalSpec {
	switch suffix {
	case "_format":
		e.format = value
	case "_structure":
		e.structure = value
	case "_types": // columns without names are called _1, _2, ...
		var columns []string
		for i, t := range splitTypes(value) {
			columns = append(columns, "_"+strconv.Itoa(i+1)+" "+t)
		}
		e.structure = strings.Join(columns, ", ")
	}
	return e
}

// splitTypes splits at the commas outside of parentheses.
func splitTypes(list string) []string {
	var out []string
	depth, from := 0, 0
	for i, c := range list {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			out, from = append(out, strings.TrimSpace(list[from:i])), i+1
		}
	}
	return append(out, strings.TrimSpace(list[from:]))
}

// external is a table that comes with a request.
type external struct {
	name string
	spec externalSpec
	data []byte
}

// readMultipart reads a statement and its external tables from a form.
func (s *Server) readMultipart(r *http.Request, q *request, body io.Reader) (*text, []external, error) {
	_, boundary, found := strings.Cut(r.Header.Get("Content-Type"), "boundary=")
	if !found {
		return nil, nil, exception(codeBadParameter, "multipart/form-data without a boundary")
	}
	form := multipart.NewReader(body, strings.Trim(boundary, `"`))
	t := &text{sql: q.query}
	var tables []external
	left := s.limits.External
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return t, tables, nil
		}
		if err != nil {
			return nil, nil, bodyError(err)
		}
		data, err := io.ReadAll(io.LimitReader(part, left+1))
		if err != nil {
			return nil, nil, bodyError(err)
		}
		name := part.FormName()
		if left -= int64(len(data)); left < 0 || len(tables) >= s.limits.ExternalCount {
			return nil, nil, exception(codeRequestTooLarge, "External tables hold more than %d bytes, or are more than %d", s.limits.External, s.limits.ExternalCount)
		}
		switch {
		case name == "query":
			t.sql += string(data)
		case strings.HasPrefix(name, "param_"):
			q.params = append(q.params, chdb.Param{Name: name[len("param_"):], Value: string(data)})
		case q.external[name].structure == "" && part.FileName() == "":
			if err := q.parameter(name, string(data), r); err != nil {
				return nil, nil, err
			}
		default:
			tables = append(tables, external{name: name, spec: q.external[name], data: data})
		}
	}
}

// create makes a temporary table in the session and fills it.
func (e external) create(conn *chdb.Conn) error {
	if e.spec.structure == "" {
		return exception(codeBadParameter, "External table %s has neither %s_structure nor %s_types", e.name, e.name, e.name)
	}
	sql := "CREATE TEMPORARY TABLE " + quoteName(e.name) + " (" + e.spec.structure + ")"
	// The structure is the client's text: it must not become another statement.
	class, count, err := conn.Classify(sql)
	if err != nil {
		return err
	}
	if count != 1 || class != chdb.Control || !statement.SessionOnly(sql) {
		return exception(codeBadArguments, "The structure of external table %s is not a list of columns", e.name)
	}
	if err := refuse(conn, sql); err != nil {
		return err
	}
	if err := conn.Exec(sql); err != nil {
		return err
	}
	format := e.spec.format
	if format == "" {
		format = "TabSeparated"
	}
	in, err := conn.Insert("INSERT INTO "+quoteName(e.name), format)
	if err != nil {
		return err
	}
	defer in.Close()
	if _, err := in.Write(e.data); err != nil {
		return err
	}
	_, err = in.Done()
	return err
}
