package exposition

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
)

// Reader reads one body. It is not safe for concurrent use.
type Reader struct {
	body     []byte
	limits   Limits
	families families
	symbols  *labels.SymbolTable
	labels   labels.Labels

	openMetrics bool
	err         error
	bad         Bad
	good        int // where in body the first bad line is, if there is one
	badLines    int
	samples     int

	// parser reads run, the lines of body from pos; last is a slice of the last entry that it read of them.
	parser textparse.Parser
	run    []byte
	pos    int
	last   []byte

	sample Sample
	family int
	name   []byte // of which family and part are known, see resolve

	// memory and expect are what Follow gave. following is set as long as the body is like the one before; followed are
	// the samples and metadata the metadata lines that were so.
	memory             *Memory
	expect             func() Known
	following          bool
	followed, metadata int
}

// maxLineBytes is half of the label length at which prometheus' labels panic.
const maxLineBytes = 8 << 20

// NewReader returns a reader of a body that belongs to it from here on. Only application/openmetrics-text is read as
// OpenMetrics, everything else as the text format: vLLM and the routers answer with content types that are wrong.
func NewReader(body []byte, contentType string, limits Limits) *Reader {
	limits.LineBytes = min(limits.LineBytes, maxLineBytes)
	openMetrics := strings.HasPrefix(strings.TrimSpace(contentType), "application/openmetrics-text")
	r := &Reader{
		body: body, limits: limits, openMetrics: openMetrics,
		families: newFamilies(limits.Families, openMetrics), symbols: labels.NewSymbolTable(),
	}
	if IsHTML(body) {
		r.body, r.err = nil, ErrHTML
		return r
	}
	if bytes.Contains(r.body, []byte("\r\n")) {
		r.body = bytes.ReplaceAll(r.body, []byte("\r\n"), []byte("\n"))
	}
	if n := len(r.body); n > 0 && r.body[n-1] != '\n' {
		r.body = append(r.body[:n:n], '\n')
	}
	return r
}

// IsHTML says whether a body is a web page: no line of an exposition begins with <.
func IsHTML(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n\ufeff"), []byte("<"))
}

// Next advances to the next sample. It returns false at the end of the body.
func (r *Reader) Next() bool {
	if r.following && r.follow() || r.read() {
		return true
	}
	r.remember()
	return false
}

// read is Next by textparse.
func (r *Reader) read() bool {
	for {
		if r.parser == nil && !r.start() {
			return false
		}
		entry, err := r.parser.Next()
		if err != nil {
			r.skip(r.next())
			continue
		}
		switch entry {
		case textparse.EntrySeries:
			var at *int64
			r.last, at, r.sample.Value = r.parser.Series()
			if r.openMetrics && !whole(r.run[r.offset()+len(r.last):]) {
				r.skip(r.offset())
				continue
			}
			if r.samples == r.limits.Samples {
				r.stop(r.pos+r.offset(), LimitSamples)
				return false
			}
			if !r.identify(r.last, at) {
				continue
			}
			r.samples++
			return true
		case textparse.EntryType:
			var kind model.MetricType
			r.last, kind = r.parser.Type()
			r.setType(r.last, kind)
		case textparse.EntryHelp:
			r.last, _ = r.parser.Help()
		case textparse.EntryUnit:
			r.last, _ = r.parser.Unit()
		case textparse.EntryComment:
			r.last = r.parser.Comment()
		case textparse.EntryInvalid, textparse.EntryHistogram: // not in text
		}
	}
}

// Sample returns the sample that Next advanced to.
func (r *Reader) Sample() Sample { return r.sample }

// Labels appends the labels of the current sample to dst, sorted by name, without the metric's name.
func (r *Reader) Labels(dst []Label) []Label {
	if r.parser == nil { // the sample was followed
		r.parse(append(bytes.Clone(r.sample.Series), " 0\n"...))
		_, _ = r.parser.Next() // succeeded for the same series before
		defer func() { r.parser = nil }()
	}
	r.parser.Labels(&r.labels)
	r.labels.Range(func(l labels.Label) {
		if l.Name != model.MetricNameLabel {
			dst = append(dst, Label{Name: l.Name, Value: l.Value})
		}
	})
	return dst
}

// Bad returns the lines that were skipped so far.
func (r *Reader) Bad() Bad { return r.bad }

// Err returns [ErrHTML] for a body that is no exposition at all.
func (r *Reader) Err() error { return r.err }

func (r *Reader) setType(name []byte, kind model.MetricType) {
	r.name = nil
	declared, agrees := r.families.setType(name, typeOf(kind))
	if !declared {
		r.reject(LimitFamilies, r.pos+r.offset())
	}
	if !agrees {
		r.reject(BadTypeConflict, r.pos+r.offset())
	}
}

// identify fills the sample from its series. It reports false for a sample over a limit.
func (r *Reader) identify(series []byte, at *int64) bool {
	if reason, ok := r.withinLimits(series); !ok {
		r.reject(reason, r.pos+r.offset())
		return false
	}
	s := &r.sample
	s.Series = series
	s.HasTimestamp = at != nil
	s.Timestamp = 0
	if at != nil {
		s.Timestamp = *at
	}
	if known := len(r.name); known > 0 && len(series) > known && series[known] == '{' && bytes.Equal(series[:known], r.name) {
		// A histogram's buckets, a family's label sets: the same name follows itself.
		return true
	}
	name := r.nameOf(series)
	r.family, s.Part, s.Family = r.families.resolve(name)
	s.Name, r.name = name, name
	s.Type = Unknown
	if r.family >= 0 {
		s.Type = r.families.list[r.family].kind
	}
	return true
}

func (r *Reader) nameOf(series []byte) []byte {
	brace := bytes.IndexByte(series, '{')
	switch {
	case brace > 0:
		series = series[:brace]
	case brace == 0:
		// The name is quoted and among the labels: {"name",label="value"}.
		r.parser.Labels(&r.labels)
		return []byte(r.labels.Get(model.MetricNameLabel))
	}
	return bytes.Trim(series, " \t")
}

// withinLimits looks into the labels only where the series is long enough to break a limit.
func (r *Reader) withinLimits(series []byte) (Reason, bool) {
	const shortest = len(`a="",`)
	if len(series) <= r.limits.LabelValueBytes && len(series) <= shortest*r.limits.Labels {
		return 0, true
	}
	r.parser.Labels(&r.labels)
	if r.labels.Len() > r.limits.Labels+1 {
		return LimitLabels, false
	}
	ok := true
	r.labels.Range(func(l labels.Label) { ok = ok && len(l.Value) <= r.limits.LabelValueBytes })
	return LimitLabelValue, ok
}

// classify says why a line that is not too long was refused.
func classify(line []byte) Reason {
	switch {
	case !utf8.Valid(line):
		return BadUTF8
	case bytes.HasPrefix(line, []byte("#")):
		return BadMetadata
	default:
		return BadSyntax
	}
}

func typeOf(kind model.MetricType) Type {
	switch kind {
	case model.MetricTypeCounter:
		return Counter
	case model.MetricTypeGauge:
		return Gauge
	case model.MetricTypeHistogram:
		return Histogram
	case model.MetricTypeSummary:
		return Summary
	case model.MetricTypeInfo:
		return Info
	case model.MetricTypeStateset:
		return StateSet
	case model.MetricTypeGaugeHistogram:
		return GaugeHistogram
	default:
		return Unknown
	}
}
