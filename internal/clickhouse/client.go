package clickhouse

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"go.opentelemetry.io/collector/config/configopaque"
)

const (
	userHeader     = "X-ClickHouse-User"
	passwordHeader = "X-ClickHouse-Key"

	// expectAbove is the body size in bytes above which the server is asked before it is sent. A server that
	// refuses (password, table) answers at once and closes, and whoever is still sending then sees a reset
	// connection instead of the reason. It costs one round trip per block.
	expectAbove = 16 << 10
)

// Client sends statements to one ClickHouse HTTP address. It is safe for concurrent use.
type Client struct {
	http     *http.Client
	endpoint *url.URL
	address  string
	username string
	password func() (configopaque.String, error)
}

// NewClient returns a client for endpoint, such as http://127.0.0.1:8123 or https://host:8443/path.
//
// With a username, username and password travel as X-ClickHouse-* headers, never in the URL, because URLs end in
// logs; password is asked for every request, so one read from a file may change. With an empty username no
// credentials are sent: httpClient's own transport (an auth extension) adds them.
func NewClient(
	httpClient *http.Client, endpoint, username string, password func() (configopaque.String, error),
) (*Client, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		// url.Parse quotes its input, which may hold a password.
		return nil, errors.New("endpoint: not a URL")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("endpoint: scheme %q: want http or https", u.Scheme)
	case u.Host == "":
		return nil, errors.New("endpoint: no host")
	case u.User != nil:
		return nil, fmt.Errorf("endpoint: %s holds credentials: use username and password", u.Redacted())
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("endpoint: must not have a query or a fragment")
	}
	// A redirect would resend the rows, and with them the password header, to an address nobody configured, and
	// 301 to 303 would turn the POST into a GET. No ClickHouse redirects; whoever does is named in the error.
	noRedirects := *httpClient
	noRedirects.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{http: &noRedirects, endpoint: u, address: u.String(), username: username, password: password}, nil
}

// Address returns the endpoint as it is written in messages. It never holds a secret.
func (c *Client) Address() string { return c.address }

// Exec runs a statement that returns nothing of interest. Settings become URL parameters.
func (c *Client) Exec(ctx context.Context, statement string, settings map[string]string) error {
	resp, a, err := c.post(ctx, "", settings, [][]byte{[]byte(statement)}, "")
	if err != nil {
		return err
	}
	_, err = a.read(resp, true)
	return err
}

// Query runs a statement without FORMAT and returns its rows, each value as ClickHouse writes it in text. It is for
// small answers: more than 4 MiB is an error.
func (c *Client) Query(ctx context.Context, statement string, settings map[string]string) ([][]string, error) {
	resp, a, err := c.post(ctx, "", settings, [][]byte{[]byte(statement + "\nFORMAT JSONCompactStringsEachRow")}, "")
	if err != nil {
		return nil, err
	}
	body, err := a.read(resp, false)
	if err != nil {
		return nil, err
	}
	rows, rest := parseRows(body)
	if _, _, _, found := parseException(rest); found {
		return nil, a.exception(resp, rest)
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("clickhouse %s: the answer is not rows of strings: %q", c.address, bound(string(rest), 100))
	}
	return rows, nil
}

// parseRows reads JSON arrays of strings, one per line, up to the first line that is none.
func parseRows(body []byte) (rows [][]string, rest []byte) {
	for len(body) > 0 {
		line, after, _ := bytes.Cut(body, []byte("\n"))
		if len(line) > 0 {
			var row []string
			if err := json.Unmarshal(line, &row); err != nil {
				return rows, body
			}
			rows = append(rows, row)
		}
		body = after
	}
	return rows, nil
}

// Insert sends statement, an INSERT ... FORMAT ..., with body as its data. contentEncoding is the body's HTTP
// compression ("" for none; for ClickHouse's own framing leave it empty and set decompress=1). The chunks are read
// only, so a caller keeps them and sends the very same bytes again after a [Retryable] error.
func (c *Client) Insert(
	ctx context.Context, statement string, settings map[string]string, body [][]byte, contentEncoding string,
) error {
	resp, a, err := c.post(ctx, statement, settings, body, contentEncoding)
	if err != nil {
		return err
	}
	_, err = a.read(resp, true)
	return err
}

// post sends one request. A non-empty query travels as a URL parameter, with the body as its data.
func (c *Client) post(
	ctx context.Context, query string, settings map[string]string, body [][]byte, contentEncoding string,
) (*http.Response, answer, error) {
	params := make(url.Values, len(settings)+2)
	for name, value := range settings {
		params.Set(name, value)
	}
	// The server then answers only when it is done, so that most errors come with a status of their own.
	params.Set("wait_end_of_query", "1")
	if query != "" {
		params.Set("query", query)
	}
	u := *c.endpoint
	u.RawQuery = params.Encode()

	size := 0
	for _, chunk := range body {
		size += len(chunk)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), newChunkReader(body))
	if err != nil {
		return nil, answer{}, fmt.Errorf("clickhouse %s: %w", c.address, err)
	}
	req.ContentLength = int64(size)
	// The transport may find a kept connection closed before it wrote anything; it needs the body anew then.
	req.GetBody = func() (io.ReadCloser, error) { return newChunkReader(body), nil }
	if size > expectAbove {
		req.Header.Set("Expect", "100-continue")
	}
	if contentEncoding != "" {
		req.Header.Set("Content-Encoding", contentEncoding)
	}
	secret, err := c.authenticate(req)
	if err != nil {
		return nil, answer{}, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		// Drops the URL with the whole statement in it, which http.Client puts before every error.
		if urlErr, ok := errors.AsType[*url.Error](err); ok {
			err = urlErr.Err
		}
		return nil, answer{}, fmt.Errorf("clickhouse %s: %w", c.address, err)
	}
	return resp, answer{address: c.address, user: c.username, secret: secret}, nil
}

// authenticate sets the credential headers and returns the password, for keeping it out of messages.
func (c *Client) authenticate(req *http.Request) (string, error) {
	if c.username == "" {
		return "", nil
	}
	req.Header.Set(userHeader, c.username)
	if c.password == nil {
		return "", nil
	}
	password, err := c.password()
	if err != nil {
		return "", fmt.Errorf("clickhouse %s: %w: user %s: %w", c.address, errPassword, c.username, err)
	}
	if strings.ContainsAny(string(password), "\r\n\x00") {
		return "", fmt.Errorf("clickhouse %s: %w: user %s: it holds a line break", c.address, errPassword, c.username)
	}
	req.Header.Set(passwordHeader, string(password))
	return string(password), nil
}

// chunkReader reads byte slices one after another, without copying them together and without changing them.
type chunkReader struct {
	chunks [][]byte
	offset int
}

func newChunkReader(chunks [][]byte) *chunkReader { return &chunkReader{chunks: chunks} }

func (r *chunkReader) Read(p []byte) (int, error) {
	for len(r.chunks) > 0 && r.offset == len(r.chunks[0]) {
		r.chunks, r.offset = r.chunks[1:], 0
	}
	if len(r.chunks) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.chunks[0][r.offset:])
	r.offset += n
	return n, nil
}

func (*chunkReader) Close() error { return nil }
