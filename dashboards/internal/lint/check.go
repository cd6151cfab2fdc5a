package lint

import (
	"fmt"

	"github.com/pitwall-otel/pitwall/schema"
)

// Check returns what is wrong with dashboards that are shipped together, each line naming file and panel.
func Check(boards []*Board, registry *schema.Registry) []string {
	var texts []string
	names := NewNames(registry)
	byUID := map[string]*Board{}
	for _, b := range boards {
		if other := byUID[b.UID]; other != nil {
			texts = append(texts, fmt.Sprintf("%s: uid %q is that of %s too", b.File, b.UID, other.File))
		}
		byUID[b.UID] = b
	}
	for _, b := range boards {
		f := &findings{board: b}
		checkIdentity(f)
		checkLayout(f)
		checkVariables(f)
		checkAnnotations(f)
		for _, p := range b.Shown() {
			checkPanel(f, p)
		}
		checkQueries(f)
		checkLinks(f, byUID)
		texts = append(texts, f.texts...)
		references := References(b)
		texts = append(texts, names.Unknown(references)...)
		texts = append(texts, names.Mixed(references)...)
	}
	return texts
}
