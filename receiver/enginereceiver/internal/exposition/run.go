package exposition

import (
	"bytes"

	"github.com/prometheus/prometheus/model/textparse"
)

// runBytes is how much textparse gets at once. A parser costs three allocations, and an error message of textparse quotes
// what it read since the last entry.
const runBytes = 64 << 10

// start gives the lines from pos to a parser, up to the first that is not for it. It reports false at the end.
func (r *Reader) start() bool {
	end := r.pos
	for end < len(r.body) && end-r.pos < runBytes {
		line := r.body[end : end+bytes.IndexByte(r.body[end:], '\n')]
		reason, verdict := r.check(line)
		if verdict == fit {
			end += len(line) + 1
			continue
		}
		if end > r.pos {
			break
		}
		end += len(line) + 1
		r.pos = end
		if verdict == unfit && !r.refuse(reason) {
			return false
		}
	}
	if end == r.pos {
		return false
	}
	r.parse(r.body[r.pos:end])
	return true
}

// parse starts a parser at a run of lines.
func (r *Reader) parse(run []byte) {
	r.run, r.last = run, nil
	if r.openMetrics {
		r.parser = textparse.NewOpenMetricsParser(run, r.symbols)
		return
	}
	// The parser appends the line end that is cut off here: in place, so it copies nothing and changes nothing.
	r.parser = textparse.NewPromParser(run[:len(run)-1], r.symbols, false)
}

// next is where in run the line after the last entry begins.
func (r *Reader) next() int {
	if r.last == nil {
		return 0
	}
	return r.offset() + bytes.IndexByte(r.run[r.offset():], '\n') + 1
}

// skip goes on after the line that begins there in run, which the parser did not take.
func (r *Reader) skip(from int) {
	rest := r.run[from:]
	r.pos += from
	r.parser = nil
	if len(rest) == 0 {
		return
	}
	line := rest[:bytes.IndexByte(rest, '\n')]
	rest = rest[len(line)+1:]
	r.pos += len(line) + 1
	if cut := bytes.LastIndex(line, []byte(" # {")); cut >= 0 && !r.openMetrics && closed(line[:cut]) {
		// An exemplar, which the text format does not have: read the line as a run of its own, without it.
		run := append(bytes.Clone(line[:cut]), '\n')
		r.pos -= len(run)
		r.parse(run)
		return
	}
	if r.refuse(classify(line)) && len(rest) > 0 {
		r.parse(rest)
	}
}

// offset is where in run the last entry begins: slices of one array, so their capacities tell.
func (r *Reader) offset() int { return cap(r.run) - cap(r.last) }

// refuse counts a bad line. It reports false when that was the last one to tolerate.
func (r *Reader) refuse(reason Reason) bool {
	r.reject(reason, r.pos-1)
	r.badLines++
	if r.badLines < r.limits.BadLines {
		return true
	}
	r.stop(r.pos, LimitBadLines)
	return false
}

// reject counts a line that is at that place in body.
func (r *Reader) reject(reason Reason, at int) {
	if r.bad == (Bad{}) {
		r.good = at
	}
	r.bad[reason]++
}

// stop ends reading and counts the lines from there on.
func (r *Reader) stop(from int, reason Reason) {
	if from < len(r.body) {
		r.reject(reason, from)
		r.bad[reason] += bytes.Count(r.body[from:], []byte("\n")) - 1
	}
	r.pos, r.parser = len(r.body), nil
}

// whole says whether what follows a series is all that OpenMetrics allows: a value, perhaps a timestamp, perhaps an
// exemplar. textparse takes a line with other things after the value and loses its place in the next.
func whole(rest []byte) bool {
	rest, _, _ = bytes.Cut(rest[:bytes.IndexByte(rest, '\n')], []byte(" # {"))
	words := bytes.Split(rest, []byte(" "))
	return len(words) >= 2 && len(words) <= 3 && len(words[0]) == 0 && len(words[1]) > 0 && len(words[len(words)-1]) > 0
}

type verdict uint8

const (
	fit   verdict = iota // for the parser
	blank                // says nothing: empty lines, comments, # EOF
	unfit                // counted
)

// check looks at a line before textparse does: nothing it reads as fit makes textparse read on into the next line.
func (r *Reader) check(line []byte) (Reason, verdict) {
	switch {
	case len(line) == 0:
		return 0, blank
	case len(line) > r.limits.LineBytes:
		return LimitLine, unfit
	case bytes.IndexByte(line, 0) >= 0:
		// Between tokens textparse takes NUL for the end of the body.
		return classify(line), unfit
	case line[0] == '#':
		return r.checkComment(line)
	case !closed(line):
		return classify(line), unfit
	case line[0] == ' ' || line[0] == '\t':
		if len(bytes.Trim(line, " \t")) == 0 {
			return 0, blank
		}
	}
	return 0, fit
}

// checkComment drops what is no metadata. EOF is dropped too: concatenated captures have it in the middle.
func (r *Reader) checkComment(line []byte) (Reason, verdict) {
	rest := bytes.TrimLeft(line[1:], " \t")
	if r.openMetrics {
		rest = bytes.TrimPrefix(line[1:], []byte(" "))
	}
	for _, keyword := range [...]string{"HELP", "TYPE", "UNIT"} {
		name, ok := bytes.CutPrefix(rest, []byte(keyword))
		if !ok || len(name) == 0 || (name[0] != ' ' && name[0] != '\t') {
			continue
		}
		// A quoted name may hold anything, a HELP text too; only the name's quotes are read as quotes.
		if name = bytes.TrimLeft(name, " \t"); len(name) > 0 && name[0] == '"' && !closed(name) {
			return classify(line), unfit
		}
		return 0, fit
	}
	return 0, blank
}

// closed says whether each quote that is opened in the line is closed in it.
func closed(line []byte) bool {
	if bytes.IndexByte(line, '\\') < 0 {
		return bytes.Count(line, []byte{'"'})%2 == 0
	}
	quoted := false
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '"':
			quoted = !quoted
		case line[i] == '\\' && quoted:
			i++
		}
	}
	return !quoted
}
