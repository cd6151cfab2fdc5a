package statement

import "strings"

// NeedsCanonical says that sql may hold something that Forbidden looks for, even
// if hidden by escapes or by a parameter that stands for a name. Only such texts
// are worth the engine's rewriting.
func NeedsCanonical(sql string) bool {
	lower := strings.ToLower(sql)
	for _, hint := range []string{"file", "disk", `\`, "identifier"} {
		if strings.Contains(lower, hint) {
			return true
		}
	}
	return false
}

// Forbidden names what in sql the engine's grants do not refuse and would let it
// read or write files or reach servers; "" when there is nothing. To be relied on,
// sql must be the engine's canonical form: no comments, escapes only in strings.
func Forbidden(sql string) string {
	l := lexer{src: sql}
	var before [2]token // the two tokens before t
	t := l.next()
	for t.kind != end && t.kind != open {
		next := l.next()
		if reason := forbidden(before, t, next); reason != "" {
			return reason
		}
		before[0], before[1] = before[1], t
		t = next
	}
	return ""
}

func forbidden(before [2]token, t, next token) string {
	switch {
	case t.is("FROM") && next.is("INFILE"):
		return "FROM INFILE"
	case t.is("INTO") && next.is("OUTFILE"):
		return "INTO OUTFILE"
	case named(t, "disk") && next.sym("("):
		return "disk()"
	case named(t, "file") && next.sym("("):
		return "file()"
	// A function's bare name is an argument too: APPLY(file), arrayMap(file, ...).
	case named(t, "file") && (before[1].is("APPLY") || before[1].sym("(") && takesFunction(before[0])):
		return "the function file"
	}
	return ""
}

func named(t token, name string) bool {
	return t.kind == word && strings.EqualFold(t.text, name) ||
		t.kind == quoted && strings.EqualFold(strings.Trim(t.text, "`\""), name)
}

func takesFunction(t token) bool {
	if t.kind != word && t.kind != quoted {
		return false
	}
	name := strings.ToLower(strings.Trim(t.text, "`\""))
	return name == "apply" || strings.HasPrefix(name, "array") || strings.HasPrefix(name, "map")
}
