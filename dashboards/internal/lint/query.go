package lint

import (
	"regexp"
	"slices"
	"strings"
)

// macros are those of Grafana's ClickHouse plugin that mean the same in all versions from 4.0 on.
func macros() []string {
	return []string{
		"timeFilter", "timeFilter_ms", "timeInterval", "timeInterval_ms", "interval_s", "fromTime", "toTime", "fromTime_ms", "toTime_ms",
	}
}

// Variables of a query: ${name:format}, and forms that must not be used: $name, [[name]].
var (
	macro     = regexp.MustCompile(`\$__(\w+)`)
	braced    = regexp.MustCompile(`\$\{(\w+)(?:\.[^:}]*)?(:\w+)?\}`)
	bare      = regexp.MustCompile(`\$([a-zA-Z]\w*)`)
	unbounded = regexp.MustCompile(`\$__(timeFilter(_ms)?\(|(from|to)Time)`)
)

func checkQueries(f *findings) {
	declared := map[string]bool{}
	for _, v := range f.board.Templating.List {
		declared[v.Name] = true
	}
	for _, s := range f.board.Statements() {
		if strings.TrimSpace(s.SQL) == "" {
			f.add(s.Where, "has no SQL")
			continue
		}
		for _, m := range macro.FindAllStringSubmatch(s.SQL, -1) {
			if !slices.Contains(macros(), m[1]) {
				f.add(s.Where, "macro $__%s is not among those that all versions of the plugin have", m[1])
			}
		}
		for _, m := range braced.FindAllStringSubmatch(s.SQL, -1) {
			if !declared[m[1]] {
				f.add(s.Where, "variable ${%s} is not declared", m[1])
			}
			// Grafana's other formats for SQL let a backslash through: a name could end the literal that it stands in.
			if m[2] != ":percentencode" {
				f.add(s.Where, "variable %s: only ${%s:percentencode} inside a literal is safe whatever the value", m[0], m[1])
			}
		}
		for _, m := range bare.FindAllStringSubmatch(s.SQL, -1) {
			f.add(s.Where, "variable $%s without braces and format", m[1])
		}
		if strings.Contains(s.SQL, "[[") {
			f.add(s.Where, "Grafana takes [[ for a variable")
		}
		checkEncoded(f, s)
		checkBounds(f, s)
	}
}

// checkEncoded: a percent-encoded variable stands in a literal of its own.
func checkEncoded(f *findings, s Statement) {
	all := strings.Count(s.SQL, ":percentencode}")
	if alone := strings.Count(s.SQL, ":percentencode}'"); alone != all {
		f.add(s.Where, "a variable is not alone in its literal")
	}
}

// checkBounds: a query reads a part of the time, or one trace.
func checkBounds(f *findings, s Statement) {
	byTrace := strings.Contains(s.SQL, "TraceId = wanted")
	byRun := strings.Contains(s.SQL, "run_milestones") // read whole: a run has a handful
	if !unbounded.MatchString(s.SQL) && !byTrace && !byRun {
		f.add(s.Where, "is not bounded by time")
	}
	if strings.Contains(s.SQL, "$__timeFilter(") || byTrace {
		return
	}
	lists := strings.Contains(s.SQL, "GROUP BY run_id, metric") // answered from the projection p_runs
	if strings.Contains(s.SQL, "metric_points") && !lists {
		f.add(s.Where, "reads metric_points without $__timeFilter")
	}
}
