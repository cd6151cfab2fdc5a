package exposition

import "errors"

// ErrHTML is a body that is a web page: an error page, a login page, a proxy's.
var ErrHTML = errors.New("the body is HTML, not metrics")

// Limits bound what one body may cost. A line over a limit is skipped and counted.
type Limits struct {
	LineBytes       int
	LabelValueBytes int
	Labels          int
	// Samples, Families and BadLines are per body. With Samples or BadLines reached reading stops.
	Samples  int
	Families int
	BadLines int
}

// DefaultLimits hold a router in front of 64 data-parallel engines (engines' own lines are below 1 KiB) and keep a
// hostile body of 64 MiB below a second of CPU.
func DefaultLimits() Limits {
	return Limits{
		LineBytes: 16 << 10, LabelValueBytes: 4 << 10, Labels: 64,
		Samples: 1_000_000, Families: 10_000, BadLines: 100_000,
	}
}

// Reason says why a line was not read.
type Reason uint8

// Reasons of lines that were skipped.
const (
	BadSyntax   Reason = iota // a sample line that is none
	BadMetadata               // a HELP, TYPE or UNIT line that is none, or with a type that the format lacks
	BadUTF8
	BadTypeConflict // a second TYPE line with another type; from there on it counts
	LimitLine
	LimitLabelValue
	LimitLabels
	LimitSamples  // lines after the last sample that was read
	LimitFamilies // TYPE and HELP lines of further families, whose samples are read as Unknown
	LimitBadLines // lines after the last bad line that was tolerated
	reasons
)

// String is the reason as an attribute's value.
func (r Reason) String() string {
	return [...]string{
		"syntax", "metadata", "utf8", "type_conflict", "line_length", "label_value_length", "label_count",
		"sample_limit", "family_limit", "bad_line_limit",
	}[r]
}

// Bad counts lines by [Reason].
type Bad [reasons]int

// Total is the number of lines for all reasons.
func (b *Bad) Total() (n int) {
	for _, lines := range b {
		n += lines
	}
	return n
}
