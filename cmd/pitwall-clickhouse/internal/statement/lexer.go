package statement

import (
	"bytes"
	"strings"
)

type kind uint8

const (
	end    kind = iota
	word        // bare identifier or keyword
	quoted      // identifier in backticks or double quotes
	text        // string literal
	symbol      // one byte of anything else, digits included
	open        // a literal or comment that does not end
)

// token is a piece of the text, from byte start up to byte end.
type token struct {
	kind       kind
	text       string
	start, end int
}

func (t token) is(keyword string) bool { return t.kind == word && strings.EqualFold(t.text, keyword) }
func (t token) sym(s string) bool      { return t.kind == symbol && t.text == s }

// lexer splits SQL as ClickHouse's own lexer does, as far as quoting and comments go.
type lexer struct {
	src string
	pos int
}

// next returns the next token that is neither space nor comment.
func (l *lexer) next() token {
	if !l.skipSpace() {
		return token{kind: open, start: l.pos, end: len(l.src)}
	}
	if l.pos >= len(l.src) {
		return token{kind: end, start: l.pos, end: l.pos}
	}
	start := l.pos
	switch c := l.src[start]; {
	case isWordByte(c) && !isDigit(c):
		for l.pos < len(l.src) && isWordByte(l.src[l.pos]) {
			l.pos++
		}
		return l.token(word, start)
	case isDigit(c):
		// Digits run into letters (0x1F, 1e9, 5min) and must not yield a word.
		for l.pos < len(l.src) && isWordByte(l.src[l.pos]) {
			l.pos++
		}
		return l.token(symbol, start)
	case c == '\'':
		return l.quoted(text, start, "'")
	case c == '`' || c == '"':
		return l.quoted(quoted, start, string(c))
	case strings.HasPrefix(l.src[start:], "‘"):
		return l.until(text, start, "‘", "’")
	case strings.HasPrefix(l.src[start:], "“"):
		return l.until(quoted, start, "“", "”")
	case c == '$':
		if tag := heredocTag(l.src[start:]); tag != "" {
			return l.until(text, start, tag, tag)
		}
	}
	l.pos++
	return l.token(symbol, start)
}

func (l *lexer) token(k kind, start int) token {
	return token{kind: k, text: l.src[start:l.pos], start: start, end: l.pos}
}

func (l *lexer) open(start int) token {
	l.pos = len(l.src)
	return l.token(open, start)
}

// quoted reads up to the closing quote; a backslash takes the next byte with it
// and a doubled quote is one.
func (l *lexer) quoted(k kind, start int, quote string) token {
	for i := start + 1; i < len(l.src); i++ {
		switch {
		case l.src[i] == '\\':
			i++
		case l.src[i] == quote[0]:
			if i+1 < len(l.src) && l.src[i+1] == quote[0] {
				i++
				continue
			}
			l.pos = i + 1
			return l.token(k, start)
		}
	}
	return l.open(start)
}

func (l *lexer) until(k kind, start int, opening, closing string) token {
	from := start + len(opening)
	i := strings.Index(l.src[from:], closing)
	if i < 0 {
		return l.open(start)
	}
	l.pos = from + i + len(closing)
	return l.token(k, start)
}

// skipSpace moves past space and comments. It is false inside a comment that does not end.
func (l *lexer) skipSpace() bool {
	for l.pos < len(l.src) {
		rest := l.src[l.pos:]
		switch {
		case isSpace(rest[0]):
			l.pos++
		case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "#!"), strings.HasPrefix(rest, "# "):
			i := strings.IndexByte(rest, '\n')
			if i < 0 {
				l.pos = len(l.src)
				return true
			}
			l.pos += i + 1
		case strings.HasPrefix(rest, "/*"):
			i := strings.Index(rest[2:], "*/")
			if i < 0 {
				return false
			}
			l.pos += 2 + i + 2
		default:
			return true
		}
	}
	return true
}

// heredocTag returns "$tag$" when s starts with it.
func heredocTag(s string) string {
	for i := 1; i < len(s); i++ {
		if s[i] == '$' {
			return s[:i+1]
		}
		if !isWordByte(s[i]) {
			break
		}
	}
	return ""
}

func isSpace(c byte) bool { return bytes.IndexByte([]byte(" \t\n\v\f\r"), c) >= 0 }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isWordByte(c byte) bool {
	return c == '_' || isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
