package points

import (
	"strings"
	"unicode/utf8"

	"github.com/pitwall-otel/pitwall/schema"
)

// maxSymbols bounds what an Encoder remembers between requests; beyond it the tables start anew.
const maxSymbols = 1 << 15

// symbol is a string that repeats. index is its place in the strings of the batch with that sequence number.
type symbol struct {
	text  string
	batch uint64
	index uint32
}

// symbol returns the symbol of a text, which may alias a request's buffer.
func (e *Encoder) symbol(text string) *symbol {
	if s, ok := e.symbols[text]; ok {
		return s
	}
	return e.addSymbol(text)
}

// symbolBytes is symbol for a text composed in a scratch buffer.
func (e *Encoder) symbolBytes(text []byte) *symbol {
	if s, ok := e.symbols[string(text)]; ok {
		return s
	}
	return e.addSymbol(string(text))
}

func (e *Encoder) addSymbol(text string) *symbol {
	column := text
	if len(column) > e.settings.MaxNameBytes {
		// The long text itself is not kept: it would let one producer fill the memory with names.
		column = cutRunes(column, e.settings.MaxNameBytes)
		e.counts.Truncated++
	}
	if !utf8.ValidString(column) {
		column = strings.ToValidUTF8(column, "\uFFFD")
	}
	s := &symbol{text: strings.Clone(column)}
	if len(text) <= e.settings.MaxNameBytes {
		e.symbols[strings.Clone(text)] = s
	}
	return s
}

// index places a symbol in the current batch.
func (e *Encoder) index(s *symbol) uint32 {
	if s.batch != e.sequence {
		e.batch.strings.bytes = append(e.batch.strings.bytes, s.text...)
		s.batch, s.index = e.sequence, e.batch.strings.close()
	}
	return s.index
}

// cutRunes shortens s to at most limit bytes without leaving half a rune.
func cutRunes(s string, limit int) string {
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// naming is what the Encoder knows about one metric name.
type naming struct {
	metric string // as it came; "" when too long to be kept
	plain  *symbol
	rules  []rule
	next   *naming // of the metric that followed last time
}

// rule is a schema.TableRule with its texts as symbols; name is nil when the name is a template.
type rule struct {
	schema.TableRule
	name *symbol
	unit *symbol
}

// followingNaming is naming for the metric that comes next in a request. Resources mostly hold the same metrics in the
// same order, so a comparison with what followed last time spares the look-up.
func (e *Encoder) followingNaming(metric string) *naming {
	n := e.previous.next
	if n == nil || n.metric != metric || metric == "" {
		n = e.naming(metric)
		e.previous.next = n
	}
	e.previous = n
	return n
}

func (e *Encoder) naming(metric string) *naming {
	if n, ok := e.namings[metric]; ok {
		return n
	}
	n := &naming{plain: e.symbol(metric)}
	if known := e.settings.Registry.Metric(metric); known != nil {
		for _, tableRule := range known.Table {
			r := rule{TableRule: tableRule, unit: e.symbol(tableRule.Unit)}
			if len(tableRule.Name.Parts) == 1 && tableRule.Name.Parts[0].Attribute == "" {
				r.name = e.symbol(tableRule.Name.Parts[0].Literal)
			}
			n.rules = append(n.rules, r)
		}
	}
	if len(metric) <= e.settings.MaxNameBytes {
		n.metric = strings.Clone(metric)
		e.namings[n.metric] = n
	}
	return n
}
