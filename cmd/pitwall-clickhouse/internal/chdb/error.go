package chdb

import (
	"regexp"
	"strconv"
	"strings"
)

// Error is an exception of the engine.
type Error struct {
	// Code is ClickHouse's error number, 0 when the engine gave none.
	Code int
	// Message is the whole text, "Code: 62. DB::Exception: ... (SYNTAX_ERROR)".
	Message string
}

func (e *Error) Error() string { return e.Message }

var codePattern = regexp.MustCompile(`Code: (\d+)\. `)

func parseError(text string) *Error {
	e := &Error{Message: strings.TrimSpace(text)}
	if m := codePattern.FindStringSubmatchIndex(text); m != nil {
		e.Code, _ = strconv.Atoi(text[m[2]:m[3]])
		e.Message = strings.TrimSpace(text[m[0]:])
	}
	return e
}
