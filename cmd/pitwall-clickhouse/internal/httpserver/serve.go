package httpserver

import (
	"io"
	"net/http"

	"github.com/pitwall-otel/pitwall/cmd/pitwall-clickhouse/internal/chdb"
	"github.com/pitwall-otel/pitwall/cmd/pitwall-clickhouse/internal/statement"
)

// serveStatement runs the one statement of a request.
func (s *Server) serveStatement(w http.ResponseWriter, r *http.Request) {
	out := newAnswer(w, s.limits.Stall)
	out.header("X-ClickHouse-Timezone", s.timezone)
	if err := s.statement(out, r); err != nil {
		out.fail(err)
		return
	}
	out.finish()
}

func (s *Server) statement(out *answer, r *http.Request) error {
	user, err := s.authenticate(r)
	if err != nil {
		return err
	}
	q, err := parseRequest(r, user)
	if err != nil {
		return err
	}
	out.header("X-ClickHouse-Query-Id", q.queryID)
	if err := s.acquire(r.Context()); err != nil {
		return err
	}
	defer s.release()
	body, err := s.body(out.w, r, q)
	if err != nil {
		return err
	}
	defer body.Close()
	var t *text
	var tables []external
	if isMultipart(r) {
		t, tables, err = s.readMultipart(r, q, body)
	} else {
		t, err = s.readStatement(q.query, body)
	}
	if err != nil {
		return err
	}
	out.encode(q, r)
	return s.inSession(q, func(conn *chdb.Conn, kept bool) error {
		for _, table := range tables {
			if err := table.create(conn); err != nil {
				return err
			}
			if kept {
				defer func() { _ = conn.Exec("DROP TEMPORARY TABLE IF EXISTS " + quoteName(table.name)) }()
			}
		}
		id := newID()
		if err := q.apply(conn, id, kept); err != nil {
			return err
		}
		return s.run(out, r, q, t, conn, id)
	})
}

// inSession gives f a session of its own, or the kept one the request names with
// the request's changes to it undone afterwards.
func (s *Server) inSession(q *request, f func(conn *chdb.Conn, kept bool) error) error {
	if q.session == "" {
		conn, err := s.engine.Connect()
		if err != nil {
			return err
		}
		defer conn.Close()
		return f(conn, false)
	}
	one, err := s.sessions.take(q.user, q.session, q.sessionCheck)
	if err != nil {
		return err
	}
	end := q.sessionClose
	defer func() { s.sessions.give(one, q.sessionTimeout, end) }()
	before, err := q.save(one.conn)
	if err != nil {
		return err
	}
	defer func() {
		if before.restore(one.conn, q.database != "") != nil {
			end = true // better no session than one with another's settings
		}
	}()
	return f(one.conn, true)
}

func (s *Server) run(out *answer, r *http.Request, q *request, t *text, conn *chdb.Conn, id string) error {
	class, err := admit(conn, q, t)
	if err != nil {
		return err
	}
	if t.insert != nil {
		return s.insert(out, q, t, conn)
	}
	// From here on the body has been read, so a client that leaves is noticed.
	stop := s.watch(r.Context(), id)
	defer stop()
	format := statement.OutputFormat(t.sql)
	if format == "" {
		format = q.format
	}
	out.format(format, q)
	if class == chdb.ReadOnly && !q.waitEnd && canStream(t.sql, format) {
		return stream(out, q, t, conn)
	}
	result, err := conn.Query(t.sql, q.format, q.params...)
	if err != nil {
		return err
	}
	defer result.Close()
	if class != chdb.ReadOnly {
		if err := s.engine.CheckWrites(); err != nil {
			return err
		}
	}
	out.summary(result.Stats())
	_, err = out.Write(result.Bytes())
	return err
}

// insert feeds the request's data to the engine, as it arrives.
func (s *Server) insert(out *answer, q *request, t *text, conn *chdb.Conn) error {
	in, err := conn.Insert(t.insert.Head, t.insert.Format, q.params...)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := pump(in, t.data); err != nil {
		return err
	}
	stats, err := in.Done()
	if err != nil {
		return err
	}
	if err := s.engine.CheckWrites(); err != nil {
		return err
	}
	out.summary(stats)
	return nil
}

// pump copies in pieces large enough that the engine's part per call does not count.
func pump(in io.Writer, data io.Reader) error {
	buf := make([]byte, 256<<10)
	for {
		n, err := io.ReadFull(data, buf)
		if _, writeErr := in.Write(buf[:n]); writeErr != nil {
			return writeErr
		}
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			return nil
		default:
			return err
		}
	}
}

// stream sends a result as the engine makes it. Two chunks are fetched before the
// first is sent, so that a short result still has its figures in a header and an
// early error its status.
func stream(out *answer, q *request, t *text, conn *chdb.Conn) error {
	rows, err := conn.Stream(t.sql, q.format, q.params...)
	if err != nil {
		return err
	}
	defer rows.Close()
	chunk, err := rows.Next()
	for first := true; err == nil && chunk != nil; first = false {
		var next *chdb.Result
		if next, err = rows.Next(); err == nil {
			if first && next == nil {
				out.summary(chunk.Stats())
			}
			_, err = out.Write(chunk.Bytes())
		}
		chunk.Close()
		if err != nil && next != nil {
			next.Close()
		}
		chunk = next
	}
	return err
}
