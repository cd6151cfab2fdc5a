package clickhouse

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMessage bounds an error's text in bytes: ClickHouse may quote a whole row or statement.
const maxMessage = 2 << 10

// parseException finds the first ClickHouse exception in body. It knows the plain text of an error status,
//
//	Code: 60. DB::Exception: Table t.x does not exist. (UNKNOWN_TABLE) (version 26.7.2.1)
//
// and the same text after rows already sent, with or without the __exception__ frame newer servers put around it.
// The message is without the code, the name and the version. It allocates nothing when there is no exception.
func parseException(body []byte) (code int, name, message string, found bool) {
	code, text := findException(body)
	if text == nil {
		return 0, "", "", false
	}
	// In a frame a line with the message's length and the tag follows; in a stream, perhaps a stack trace.
	if end := bytes.Index(text, []byte("\r\n__exception__")); end >= 0 {
		text = text[:end]
	}
	message = strings.TrimRightFunc(strings.ToValidUTF8(string(text), "\uFFFD"), unicode.IsSpace)
	// A quoted exception brings its own version, behind which the outer one's name follows.
	if at := strings.LastIndex(message, " (version "); at >= 0 && !strings.Contains(message[at:], "). (") {
		message = message[:at]
	}
	// The name stands in brackets at the end; in a frame, a line with length and tag comes after it.
	open := strings.LastIndex(message, " (")
	if open < 0 {
		return code, "", message, true
	}
	name, after, closed := strings.Cut(message[open+2:], ")")
	if !closed || !isErrorName(name) || after != "" && after[0] != '\n' {
		return code, "", message, true
	}
	return code, name, message[:open], true
}

// findException returns the code and the text behind "DB::Exception:" of the first exception, nil for none.
func findException(body []byte) (int, []byte) {
	for rest := body; ; {
		at := bytes.Index(rest, []byte("Code: "))
		if at < 0 {
			return 0, nil
		}
		rest = rest[at+len("Code: "):]
		digits := 0
		for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
			digits++
		}
		code, err := strconv.Atoi(string(rest[:digits]))
		if err != nil || code == 0 {
			continue
		}
		for _, mark := range [...]string{". DB::Exception: ", ", e.displayText() = DB::Exception: "} {
			if text, ok := bytes.CutPrefix(rest[digits:], []byte(mark)); ok {
				return code, text
			}
		}
	}
}

func isErrorName(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '_' && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// bound cuts s to at most limit bytes, at a character's end.
func bound(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const mark = "…"
	cut := limit - len(mark)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + mark
}
