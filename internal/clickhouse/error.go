package clickhouse

import (
	"errors"
	"fmt"
	"strings"
)

// Error is an error the server, or a proxy before it, answered with.
type Error struct {
	Code    int    // ClickHouse's error code, 0 when the answer has none
	Name    string // its name, such as UNKNOWN_TABLE, "" when the answer has none
	Status  int    // HTTP status; 200 when the error came after the headers
	Message string // at most 2 KiB, never a password
	Address string // the endpoint
	User    string // the user the request was made as, "" when an auth extension decides
	View    bool   // a materialized view behind the table failed; the rows may be in the table
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "clickhouse %s: ", e.Address)
	if e.User != "" {
		fmt.Fprintf(&b, "user %s: ", e.User)
	}
	if e.Code != 0 {
		fmt.Fprintf(&b, "code %d", e.Code)
		if e.Name != "" {
			fmt.Fprintf(&b, " %s", e.Name)
		}
	} else {
		fmt.Fprintf(&b, "status %d", e.Status)
	}
	if e.Message != "" {
		fmt.Fprintf(&b, ": %s", e.Message)
	}
	return b.String()
}

// ErrTooManyPartitions is matched by an [Error] saying that one INSERT touched more partitions (months) than the
// server allows. The same bytes never succeed; the same rows in several INSERTs do.
var ErrTooManyPartitions = errors.New("too many partitions for one INSERT")

// Is lets errors.Is tell the two meanings of code 252 apart: only the text does.
func (e *Error) Is(target error) bool {
	return target == ErrTooManyPartitions && e.Code == codeTooManyParts && !e.View &&
		strings.Contains(e.Message, "Too many partitions for single INSERT block")
}

var errPassword = errors.New("password")
