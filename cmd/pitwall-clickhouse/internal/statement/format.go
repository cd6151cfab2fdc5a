package statement

// Keyword returns the first word of sql in upper case, "" when there is none.
// Leading parentheses are skipped.
func Keyword(sql string) string {
	l := lexer{src: sql}
	t := l.next()
	for t.sym("(") {
		t = l.next()
	}
	if t.kind != word {
		return ""
	}
	return upper(t.text)
}

// OutputFormat returns the name behind the FORMAT clause of sql, or "".
func OutputFormat(sql string) string {
	l := lexer{src: sql}
	depth := 0
	for {
		t := l.next()
		switch {
		case t.kind == end || t.kind == open:
			return ""
		case t.sym("("):
			depth++
		case t.sym(")"):
			depth--
		case depth == 0 && t.is("FORMAT"):
			resume := l.pos
			name, after := l.next(), l.next()
			if name.kind == word && (after.kind == end || after.sym(";") || after.is("SETTINGS") || after.is("INTO")) {
				return name.text
			}
			l.pos = resume
		}
	}
}

// SessionOnly says that a statement of the engine's control class changes nothing
// but the session: SET, USE, and temporary tables; or ends queries: KILL QUERY.
func SessionOnly(sql string) bool {
	l := lexer{src: sql}
	first := l.next()
	switch {
	case first.is("SET"):
		second := l.next()
		// SET ROLE and SET DEFAULT ROLE are about users.
		return !second.is("ROLE") && !second.is("DEFAULT") && !second.is("TRANSACTION")
	case first.is("USE"):
		return true
	case first.is("KILL"):
		return l.next().is("QUERY")
	case first.is("CREATE"):
		t := l.next()
		if t.is("OR") {
			if !l.next().is("REPLACE") {
				return false
			}
			t = l.next()
		}
		return t.is("TEMPORARY")
	case first.is("DROP"), first.is("TRUNCATE"):
		return l.next().is("TEMPORARY")
	}
	return false
}

// ChangesTable says that sql changes rows or columns of a table. The engine puts
// such a statement into its control class when it has SETTINGS of its own.
func ChangesTable(sql string) bool {
	l := lexer{src: sql}
	first, second := l.next(), l.next()
	switch {
	case first.is("INSERT") && second.is("INTO"):
		target := l.next()
		if target.is("TABLE") {
			target = l.next()
		}
		return (target.kind == word || target.kind == quoted) && !target.is("FUNCTION")
	case first.is("DELETE") && second.is("FROM"), first.is("UPDATE"):
		return true
	case first.is("ALTER") && second.is("TABLE"):
		for t := l.next(); t.kind != end && t.kind != open; t = l.next() {
			if t.is("FREEZE") || t.is("UNFREEZE") || t.is("FETCH") {
				return false // they write beside the table, or read from another server
			}
		}
		return true
	}
	return false
}

func upper(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}
