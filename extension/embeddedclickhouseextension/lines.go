package embeddedclickhouseextension

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// maxLine bounds a forwarded log line, in bytes; what is longer is cut.
const maxLine = 4096

// A Go program that panics or gets a deadly signal (from the engine's C++ as well) exits with code 2, as one that was
// started wrongly does. Only its output tells them apart: a report that begins with such a line.
var crashReport = regexp.MustCompile(`^(panic|fatal error|SIG[A-Z]+): `)

// lineWriter hands what is written to it to emit, line by line. It is not safe for concurrent use.
type lineWriter struct {
	emit func(line string)
	line []byte
	over int // bytes of the current line that did not fit

	reason  string // the last line, or the first of a crash report
	crashed bool   // a crash report was written
}

func (w *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	for {
		part, rest, ended := bytes.Cut(p, []byte{'\n'})
		fits := min(len(part), maxLine-len(w.line))
		w.line = append(w.line, part[:fits]...)
		w.over += len(part) - fits
		if !ended {
			return n, nil
		}
		w.flush()
		p = rest
	}
}

// flush emits the line begun, also when its end has not come.
func (w *lineWriter) flush() {
	line := strings.TrimSpace(strings.ToValidUTF8(string(w.line), "\uFFFD"))
	line = strings.TrimPrefix(line, helperName+": ") // whoever shows the line says whose it is
	if w.over > 0 {
		line += fmt.Sprintf(" … (%d bytes more)", w.over)
	}
	w.line, w.over = w.line[:0], 0
	if line != "" {
		if !w.crashed {
			w.reason, w.crashed = line, crashReport.MatchString(line)
		}
		w.emit(line)
	}
}
