package schemaprocessor

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pitwall-otel/pitwall/schema"
	"github.com/pitwall-otel/pitwall/schema/names"
)

// lineage says which names data may have.
type lineage uint8

const (
	// foreign data names no version of ours: a producer's names come first, then all names the registry ever had.
	foreign lineage = iota
	// current data follows this version or an older one: superseded and canonical names come first.
	current
	// newer data follows a later minor version: names may be unknown, and nothing is superseded.
	newer
	// alien data follows another major version, or something that is no version; nothing is known to be superseded.
	alien
	lineageCount
)

// origin is the version that data came with.
type origin struct {
	// version is what counts call it, and index its place among the counts.
	version string
	index   int
	lineage lineage
}

// maxVersions is how many versions are told apart in counts; the others are called other.
const maxVersions = 16

// The first places among the counts: data of no version, and versions too many or too strange to tell apart.
const (
	noVersion = iota
	otherVersion
	firstVersion
)

// origins remembers what versions mean. Reading takes no lock.
type origins struct {
	registry *schema.Registry
	mu       sync.Mutex
	known    atomic.Pointer[map[string]origin]
}

func newOrigins(r *schema.Registry) *origins {
	o := &origins{registry: r}
	o.known.Store(&map[string]origin{})
	return o
}

// of returns where data of a scope comes from: the scope's schema URL counts before the resource's, and an attribute is for
// data that lost its URL. A URL of another family says nothing.
func (o *origins) of(scopeURL, resourceURL string, scope, resource pcommon.Map) origin {
	for _, url := range [...]string{scopeURL, resourceURL} {
		if url == "" {
			continue
		}
		if version, ours := o.registry.VersionOf(url); ours {
			return o.version(version)
		}
	}
	for _, attributes := range [...]pcommon.Map{scope, resource} {
		if v, ok := attributes.Get(names.AttributeRLSchemaVersion); ok {
			return o.version(v.AsString())
		}
	}
	return origin{"0", noVersion, foreign}
}

func (o *origins) version(version string) origin {
	if known, ok := (*o.known.Load())[version]; ok {
		return known
	}
	changes, err := o.registry.Changes(version)
	if err != nil || version == "" || len(version) > 32 {
		return origin{"other", otherVersion, alien}
	}
	found := origin{version, otherVersion, current}
	if changes.Newer {
		found.lineage = newer
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if known, ok := (*o.known.Load())[version]; ok {
		return known
	}
	next := maps.Clone(*o.known.Load())
	if len(next) >= maxVersions {
		found.version = "other"
		return found
	}
	found.version, found.index = strings.Clone(version), firstVersion+len(next)
	next[found.version] = found
	o.known.Store(&next)
	return found
}
