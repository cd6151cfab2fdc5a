package httpserver

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/pitwall-otel/pitwall/cmd/pitwall-clickhouse/internal/coding"
	"github.com/pitwall-otel/pitwall/cmd/pitwall-clickhouse/internal/statement"
)

// body is the decoded and bounded body of a request.
func (s *Server) body(w http.ResponseWriter, r *http.Request, q *request) (io.ReadCloser, error) {
	wire := http.MaxBytesReader(w, r.Body, s.limits.WireBody)
	patient := &patientReader{r: wire, control: http.NewResponseController(w), stall: s.limits.Stall}
	decoded, err := coding.Reader(patient, r.Header.Get("Content-Encoding"))
	if err != nil {
		if errors.Is(err, coding.ErrUnknown) {
			return nil, exception(codeUnknownCompressor, "Unknown Content-Encoding %q", r.Header.Get("Content-Encoding"))
		}
		if errors.Is(err, io.EOF) { // an empty body needs no header of the coding
			return http.NoBody, nil
		}
		return nil, bodyError(err)
	}
	var plain io.Reader = decoded
	if q.framesIn {
		plain = coding.NewFrameReader(decoded)
	}
	return &boundedBody{r: plain, closer: decoded, left: s.limits.Body}, nil
}

// boundedBody gives errors of reading a ClickHouse form and ends a body that grows too large.
type boundedBody struct {
	r      io.Reader
	closer io.Closer
	left   int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, exception(codeRequestTooLarge, "The decompressed request is too large")
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = bodyError(err)
	}
	return n, err
}

func (b *boundedBody) Close() error { return b.closer.Close() }

func bodyError(err error) error {
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return exception(codeRequestTooLarge, "The request is larger than %d bytes", tooLarge.Limit)
	}
	return exception(codeCannotDecompress, "Cannot read the request's body: %v", err)
}

// patientReader lets a client take as long as it likes as long as bytes come.
type patientReader struct {
	r       io.Reader
	control *http.ResponseController
	stall   time.Duration
}

func (p *patientReader) Read(b []byte) (int, error) {
	// Not every ResponseWriter (a test's recorder) has deadlines.
	_ = p.control.SetReadDeadline(time.Now().Add(p.stall))
	n, err := p.r.Read(b)
	if err == io.EOF {
		// The deadline would otherwise end the watch for a client that goes away.
		// After any other error it stays, or the server would wait for the rest.
		_ = p.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// text is a statement and, for an INSERT, the data that came with it.
type text struct {
	sql    string
	insert *statement.Insert
	data   io.Reader
}

// readStatement reads from the URL's part of the statement and the body as much as
// the statement takes.
func (s *Server) readStatement(query string, body io.Reader) (*text, error) {
	if query != "" {
		if in, verdict := statement.ScanInsert(query, true); verdict == statement.Data {
			return &text{sql: query[:in.Data], insert: &in, data: io.MultiReader(strings.NewReader(query[in.Data:]), body)}, nil
		}
	}
	buf := bytes.NewBufferString(query)
	for joined := query == ""; ; {
		n, err := io.CopyN(buf, body, int64(max(64<<10, buf.Len())))
		whole := errors.Is(err, io.EOF)
		if err != nil && !whole {
			return nil, err
		}
		if !joined && n > 0 {
			// ClickHouse puts a line end between the two parts.
			rest := bytes.Clone(buf.Bytes()[len(query):])
			buf.Truncate(len(query))
			buf.WriteByte('\n')
			buf.Write(rest)
			joined = true
		}
		sql := buf.String()
		in, verdict := statement.ScanInsert(sql, whole)
		if verdict == statement.Data {
			return &text{sql: sql[:in.Data], insert: &in, data: io.MultiReader(strings.NewReader(sql[in.Data:]), body)}, nil
		}
		if len(sql) > s.limits.Statement {
			return nil, exception(codeRequestTooLarge, "The statement is longer than %d bytes", s.limits.Statement)
		}
		if whole {
			return &text{sql: sql}, nil
		}
	}
}

func isMultipart(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "multipart/form-data"
}
