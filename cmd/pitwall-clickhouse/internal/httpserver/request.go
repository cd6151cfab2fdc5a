package httpserver

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/pitwall-otel/pitwall/cmd/pitwall-clickhouse/internal/chdb"
)

// request is what the URL and the headers ask for.
type request struct {
	query    string // the URL's part of the statement
	queryID  string
	database string
	format   string // for a result whose statement names none
	revision uint64 // of Native results, client_protocol_version

	framesOut, framesIn bool // compress, decompress
	waitEnd             bool

	session        string
	sessionTimeout time.Duration
	sessionCheck   bool
	sessionClose   bool

	settings []chdb.Param
	params   []chdb.Param
	external map[string]externalSpec
	readOnly bool // by user or by method
	user     User
}

var settingName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func parseRequest(r *http.Request, user User) (*request, error) {
	q := &request{
		user: user, queryID: uuid.NewString(), format: r.Header.Get("X-ClickHouse-Format"),
		database: r.Header.Get("X-ClickHouse-Database"),
		// As in ClickHouse: only a POST may change anything.
		readOnly:       user.ReadOnly || r.Method != http.MethodPost,
		sessionTimeout: defaultSessionTimeout,
		external:       map[string]externalSpec{},
	}
	values := r.URL.Query()
	keys := make([]string, 0, len(values))
	for key := range values {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if err := q.parameter(key, values[key][len(values[key])-1], r); err != nil {
			return nil, err
		}
	}
	if q.format == "" {
		q.format = "TabSeparated"
	}
	return q, nil
}

func (q *request) parameter(key, value string, r *http.Request) (err error) {
	switch key {
	case "query":
		q.query = value
	case "user", "password", "quota_key", "stacktrace", "role", "buffer_size", "http_write_exception_in_output_format":
		// Known to a server and without a meaning here.
	case "query_id":
		if value != "" {
			q.queryID = headerSafe(value)
		}
	case "database":
		q.database = value
	case "default_format":
		q.format = value
	case "client_protocol_version":
		if q.revision, err = strconv.ParseUint(value, 10, 32); err != nil {
			return exception(codeBadParameter, "client_protocol_version %q is not a number", value)
		}
	case "compress":
		q.framesOut = isTrue(value)
	case "decompress":
		q.framesIn = isTrue(value)
	case "wait_end_of_query":
		q.waitEnd = isTrue(value)
	case "session_id":
		q.session = value
	case "session_check":
		q.sessionCheck = isTrue(value)
	case "close_session":
		q.sessionClose = isTrue(value)
	case "session_timeout":
		seconds, err := strconv.ParseUint(value, 10, 32)
		q.sessionTimeout = time.Duration(seconds) * time.Second
		if err != nil || q.sessionTimeout > maxSessionTimeout || seconds == 0 {
			return exception(codeSessionTimeout, "Invalid session timeout: %q, the maximum is %d seconds", value, int(maxSessionTimeout.Seconds()))
		}
	case "log_comment": // carries our own id of the statement, see watch
	default:
		return q.other(key, value, r)
	}
	return nil
}

// other is a query parameter, part of an external table, or a setting.
func (q *request) other(key, value string, r *http.Request) error {
	if name, ok := strings.CutPrefix(key, "param_"); ok {
		q.params = append(q.params, chdb.Param{Name: name, Value: value})
		return nil
	}
	if isMultipart(r) {
		for _, suffix := range []string{"_format", "_types", "_structure"} {
			if name, ok := strings.CutSuffix(key, suffix); ok && key != "default_format" {
				q.external[name] = q.external[name].with(suffix, value)
				return nil
			}
		}
	}
	if !settingName.MatchString(key) {
		return exception(codeBadParameter, "%q cannot be the name of a setting", key)
	}
	q.settings = append(q.settings, chdb.Param{Name: key, Value: value})
	return nil
}

// setting is the URL's value of a setting, or "".
func (q *request) setting(name string) string {
	for _, s := range q.settings {
		if s.Name == name {
			return s.Value
		}
	}
	return ""
}

func isTrue(v string) bool { return v != "" && v != "0" && !strings.EqualFold(v, "false") }

// headerSafe drops what may not stand in a header.
func headerSafe(v string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return -1
		}
		return c
	}, v)
}

// escapeParam writes a value in the text form that parameters have on the wire.
func escapeParam(v string) string {
	return strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\x00", `\0`).Replace(v)
}
