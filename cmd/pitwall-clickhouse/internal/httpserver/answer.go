package httpserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pitwall-otel/pitwall/cmd/pitwall-clickhouse/internal/chdb"
	"github.com/pitwall-otel/pitwall/cmd/pitwall-clickhouse/internal/coding"
	"github.com/pitwall-otel/pitwall/cmd/pitwall-clickhouse/internal/native"
)

// answer is a response under way. Nothing is sent before the first byte of the
// result, so that an error until then has its own status.
type answer struct {
	w       http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration

	http   coding.Writer // HTTP's compression, nil for none
	frames bool
	body   io.Writer // what the result is written to
	tag    string
	sent   bool // bytes of a result have been written
}

func newAnswer(w http.ResponseWriter, stall time.Duration) *answer {
	a := &answer{w: w, control: http.NewResponseController(w), stall: stall}
	a.body = (*wire)(a)
	a.tag = strings.ReplaceAll(newID(), "-", "")[:16]
	return a
}

// wire writes to the connection and gives up on a client that takes nothing.
type wire answer

func (a *wire) Write(p []byte) (int, error) {
	_ = a.control.SetWriteDeadline(time.Now().Add(a.stall))
	return a.w.Write(p)
}

func (a *answer) header(name, value string) { a.w.Header().Set(name, value) }

// encode puts the compressions that the request asks for in place.
func (a *answer) encode(q *request, r *http.Request) {
	if isTrue(q.setting("enable_http_compression")) {
		if name := coding.Choose(r.Header.Get("Accept-Encoding")); name != "" {
			if w, err := coding.NewWriter((*wire)(a), name); err == nil {
				a.http, a.body = w, w
				a.header("Content-Encoding", name)
			}
		}
	}
	if a.frames = q.framesOut; a.frames {
		a.body = coding.NewFrameWriter(a.body)
	}
}

// format says what the result is in, and rewrites Native for the client's revision.
func (a *answer) format(name string, q *request) {
	a.header("X-ClickHouse-Format", headerSafe(name))
	a.header("Content-Type", contentType(name))
	if strings.EqualFold(name, "Native") && q.revision > 0 {
		a.body = native.NewRecoder(a.body, q.revision)
	}
}

// summary has the figures in the form of ClickHouse's header: numbers as strings.
func (a *answer) summary(s chdb.Stats) {
	n := func(v uint64) string { return strconv.FormatUint(v, 10) }
	text, _ := json.Marshal(struct { // a struct keeps the order
		ReadRows     string `json:"read_rows"`
		ReadBytes    string `json:"read_bytes"`
		WrittenRows  string `json:"written_rows"`
		WrittenBytes string `json:"written_bytes"`
		TotalRows    string `json:"total_rows_to_read"`
		ResultRows   string `json:"result_rows"`
		ResultBytes  string `json:"result_bytes"`
		Elapsed      string `json:"elapsed_ns"`
	}{
		n(s.ReadRows), n(s.ReadBytes), n(s.WrittenRows), n(s.WrittenBytes), "0", n(s.ResultRows), "0",
		strconv.FormatInt(s.Elapsed.Nanoseconds(), 10),
	})
	a.header("X-ClickHouse-Summary", string(text))
}

// Write sends part of the result.
func (a *answer) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if !a.sent {
		a.sent = true
		a.header("X-ClickHouse-Exception-Tag", a.tag)
	}
	return a.body.Write(p)
}

func (a *answer) finish() {
	if !a.sent {
		// No byte, no compression: clients know an empty body by its length.
		a.w.Header().Del("Content-Encoding")
		a.w.WriteHeader(http.StatusOK)
		return
	}
	if a.http != nil {
		_ = a.http.Close()
	}
}

// fail answers with an error, or ends a result that is under way with one.
func (a *answer) fail(err error) {
	e := asException(err)
	if a.sent {
		a.failLate(e)
		return
	}
	message := e.Message + "\n"
	a.header("X-ClickHouse-Exception-Code", strconv.Itoa(e.Code))
	a.header("X-ClickHouse-Exception-Tag", a.tag)
	a.header("Content-Type", "text/plain; charset=UTF-8")
	code := status(e.Code)
	if code == http.StatusServiceUnavailable {
		a.header("Retry-After", "1")
	}
	if e.Code == codeAuthentication {
		a.header("WWW-Authenticate", `Basic realm="ClickHouse server HTTP API"`)
	}
	a.w.WriteHeader(code)
	body := io.Writer((*wire)(a))
	if a.http != nil {
		body = a.http
	}
	if a.frames {
		body = coding.NewFrameWriter(body)
	}
	_, _ = io.WriteString(body, message)
	if a.http != nil {
		_ = a.http.Close()
	}
}

// maxLateMessage is what is left of ClickHouse's 16 KiB for the whole block.
const maxLateMessage = 15 << 10

// failLate writes the exception block and cuts the connection. The block stands
// outside of compress=1 frames, where clients look for it.
func (a *answer) failLate(e *chdb.Error) {
	message := e.Message[:min(len(e.Message), maxLateMessage)] + "\n"
	body := io.Writer((*wire)(a))
	if a.http != nil {
		body = a.http
	}
	_, _ = fmt.Fprintf(body, "\r\n__exception__\r\n%s\r\n%s%d %s\r\n__exception__\r\n", a.tag, message, len(message), a.tag)
	if a.http != nil {
		_ = a.http.Close()
	}
	_ = a.control.Flush()
	panic(http.ErrAbortHandler)
}
