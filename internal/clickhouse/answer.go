package clickhouse

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

const (
	codeHeader = "X-ClickHouse-Exception-Code"

	// maxResult bounds what Query keeps: the largest answer the writing side asks for is a list of columns.
	maxResult = 4 << 20
	// maxDiscard bounds what is read of an answer nobody wants, to find an exception in it and to give the
	// connection back. A longer answer costs its connection.
	maxDiscard = 256 << 10
)

// answer turns a response into bytes or an error that names where it came from.
type answer struct {
	address, user, secret string
}

// read consumes and closes the response. With discard the body is only searched for an exception.
func (a answer) read(resp *http.Response, discard bool) ([]byte, error) {
	defer resp.Body.Close()
	limit := int64(maxResult)
	if discard {
		limit = maxDiscard
	}
	body, readErr := io.ReadAll(io.LimitReader(resp.Body, limit+1))

	failed := resp.StatusCode != http.StatusOK || resp.Header.Get(codeHeader) != ""
	// Rows somebody asked for may quote an exception, so in those only a cut answer is searched here.
	if !failed && (discard || readErr != nil) {
		_, _, _, failed = parseException(body)
	}
	if failed {
		return nil, a.exception(resp, body)
	}
	switch {
	case readErr != nil:
		// Half an answer: whether the statement was carried out is unknown.
		return nil, fmt.Errorf("clickhouse %s: reading the answer: %w", a.address, readErr)
	case !fromClickHouse(resp.Header):
		return nil, fmt.Errorf("clickhouse %s: %w (status %d)", a.address, ErrNotClickHouse, resp.StatusCode)
	case int64(len(body)) > limit && !discard:
		return nil, fmt.Errorf("clickhouse %s: the answer is larger than %d bytes", a.address, limit)
	}
	return body, nil
}

// exception returns the error that the response carries in its status, its headers or its body.
func (a answer) exception(resp *http.Response, body []byte) *Error {
	code, name, message, found := parseException(body)
	if header, err := strconv.Atoi(resp.Header.Get(codeHeader)); err == nil && header > 0 && header != code {
		// The header has the outermost exception's code; the text may quote the one of another server first.
		code, name = header, ""
	}
	if !found {
		message = string(body)
	}
	if location := resp.Header.Get("Location"); location != "" {
		message = "redirected to " + location
	}
	if a.secret != "" {
		message = strings.ReplaceAll(message, a.secret, "[REDACTED]")
	}
	return &Error{
		Code: code, Name: name, Status: resp.StatusCode,
		Message: bound(strings.Join(strings.Fields(strings.ToValidUTF8(message, "\uFFFD")), " "), maxMessage),
		Address: a.address, User: a.user, View: ofView.MatchString(message),
	}
}

// ofView matches what ClickHouse puts behind the message when a view failed. A value quoted in the message, which may say
// the same, ends with its quote.
var ofView = regexp.MustCompile(`: while pushing to view [^'"]*$`)

// fromClickHouse tells a server's or its proxy's answer from that of whatever else listens at the address: every
// answer of ClickHouse's HTTP handler carries headers of its own, such as X-ClickHouse-Query-Id.
func fromClickHouse(header http.Header) bool {
	for name := range header {
		if strings.HasPrefix(name, "X-Clickhouse-") {
			return true
		}
	}
	return false
}

// ErrNotClickHouse says that an answer of status 200 carries nothing of ClickHouse: a proxy's greeting, another
// service. Taking it for success would lose the rows.
var ErrNotClickHouse = errors.New("the answer does not come from ClickHouse")
