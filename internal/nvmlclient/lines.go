package nvmlclient

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

const (
	maxLine      = 1024 // bytes; what is longer is cut
	linesAMinute = 20   // what is more is counted
)

// lineWriter logs what the helper writes, line by line, and keeps the last one. It is not safe for concurrent use.
type lineWriter struct {
	log  func(string)
	line []byte
	last string

	minute  time.Time
	logged  int
	skipped int
}

func newLineWriter(log func(string)) *lineWriter { return &lineWriter{log: log} }

func (w *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	for {
		part, rest, ended := bytes.Cut(p, []byte{'\n'})
		w.line = append(w.line, part[:min(len(part), maxLine-len(w.line))]...)
		if !ended {
			return n, nil
		}
		w.flush()
		p = rest
	}
}

// flush takes the line begun, also when its end has not come.
func (w *lineWriter) flush() {
	line := strings.TrimSpace(strings.ToValidUTF8(string(w.line), "\uFFFD"))
	w.line = w.line[:0]
	line = strings.TrimPrefix(line, helperName+": ") // whoever shows the line says whose it is
	if line == "" {
		return
	}
	w.last = line
	if now := time.Now(); now.Sub(w.minute) > time.Minute {
		if w.skipped > 0 {
			w.log(fmt.Sprintf("%d more lines", w.skipped))
		}
		w.minute, w.logged, w.skipped = now, 0, 0
	}
	if w.logged == linesAMinute {
		w.skipped++
		return
	}
	w.logged++
	w.log(line)
}
