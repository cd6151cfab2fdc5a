package statement

import "strings"

// Insert is an INSERT that brings its data with it.
type Insert struct {
	// Head is the statement without FORMAT, VALUES and data, as an insert stream takes it.
	Head string
	// Format of the data, as written; "Values" after VALUES.
	Format string
	// Data is the offset in the text at which the data begins.
	Data int
}

// Verdict says what the beginning of a text is.
type Verdict uint8

const (
	// More bytes are needed to say.
	More Verdict = iota
	// Data: an INSERT with data behind it.
	Data
	// Plain: any other statement, INSERT SELECT among them, or none at all.
	Plain
)

// ScanInsert looks whether sql begins an INSERT with data. Unless whole is set
// more text may follow sql, and no decision is made that it could change.
func ScanInsert(sql string, whole bool) (Insert, Verdict) {
	s := inserts{lexer: lexer{src: sql}, whole: whole}
	return s.scan()
}

type inserts struct {
	lexer
	whole bool
}

func (s *inserts) scan() (Insert, Verdict) {
	for _, keyword := range []string{"INSERT", "INTO"} {
		if t := s.next(); !t.is(keyword) {
			return Insert{}, s.not(t)
		}
	}
	t := s.next()
	if t.is("TABLE") {
		t = s.next()
	}
	if t.is("FUNCTION") {
		t = s.next()
	}
	// The target, word by word, so that a table called "values" is one.
	for {
		if t.sym("{") {
			for !t.sym("}") && t.kind != end && t.kind != open {
				t = s.next()
			}
		} else if t.kind != word && t.kind != quoted {
			return Insert{}, s.not(t)
		}
		if t = s.next(); !t.sym(".") {
			break
		}
		t = s.next()
	}
	return s.clauses(t)
}

// clauses reads what stands between the target and the data.
func (s *inserts) clauses(t token) (Insert, Verdict) {
	depth := 0
	for {
		switch {
		case t.kind == end || t.kind == open:
			return Insert{}, s.not(t)
		case t.sym("(") || t.sym("[") || t.sym("{"):
			depth++
		case t.sym(")") || t.sym("]") || t.sym("}"):
			depth--
		case t.is("SELECT") || t.is("WITH"):
			// In parentheses too: no column can be called so without quotes.
			return Insert{}, Plain
		case depth > 0:
		case t.is("FROM") || t.is("WATCH"):
			return Insert{}, Plain
		case t.is("VALUES"):
			if s.touchesEnd(t) {
				return Insert{}, More
			}
			return Insert{Head: s.src[:t.start], Format: "Values", Data: t.end}, Data
		case t.is("FORMAT"):
			return s.format(t)
		}
		t = s.next()
	}
}

func (s *inserts) format(keyword token) (Insert, Verdict) {
	name := s.next()
	if name.kind != word {
		return Insert{}, s.not(name)
	}
	in := Insert{Head: s.src[:keyword.start], Format: name.text, Data: name.end}
	if s.touchesEnd(name) {
		return in, More
	}
	// SETTINGS may stand behind the format; they belong before it in a head.
	after := s.pos
	if t := s.next(); t.is("SETTINGS") {
		stop, verdict := s.settings()
		if verdict != Data {
			return in, verdict
		}
		in.Head += " " + s.src[t.start:stop]
		in.Data = stop
	} else if !s.whole && len(s.src)-after < len("SETTINGS ") {
		return in, More
	}
	return s.skipLine(in)
}

// settings reads "name = value, ..." and returns where it ends.
func (s *inserts) settings() (int, Verdict) {
	for {
		name, eq := s.next(), s.next()
		if name.kind != word || !eq.sym("=") {
			return 0, s.not(eq)
		}
		var stop int
		for depth := 0; ; {
			t := s.next()
			if t.kind == end || t.kind == open {
				return 0, s.not(t)
			}
			switch {
			case t.sym("(") || t.sym("[") || t.sym("{"):
				depth++
			case t.sym(")") || t.sym("]") || t.sym("}"):
				depth--
			}
			stop = t.end
			if depth <= 0 && !t.sym("-") && !t.sym("+") && !t.sym(".") && !strings.HasPrefix(s.src[stop:], ".") {
				break
			}
		}
		if s.pos == len(s.src) && !s.whole {
			return 0, More
		}
		if t := s.next(); !t.sym(",") {
			if t.kind == end && !s.whole {
				return 0, More
			}
			return stop, Data
		}
	}
}

// skipLine moves the data past blanks and one line end, as ClickHouse does.
func (s *inserts) skipLine(in Insert) (Insert, Verdict) {
	i := in.Data
	for i < len(s.src) && strings.IndexByte(" \t\f", s.src[i]) >= 0 {
		i++
	}
	if i < len(s.src) && s.src[i] == '\r' {
		i++
	}
	if i < len(s.src) && s.src[i] == '\n' {
		i++
	} else if i >= len(s.src) && !s.whole {
		return in, More
	}
	in.Data = i
	return in, Data
}

// not is the verdict when t is not what an INSERT with data has here.
func (s *inserts) not(t token) Verdict {
	if !s.whole && (t.kind == end || t.kind == open || s.touchesEnd(t)) {
		return More
	}
	return Plain
}

// touchesEnd says that t may go on in text that is still to come.
func (s *inserts) touchesEnd(t token) bool { return !s.whole && t.end == len(s.src) }
