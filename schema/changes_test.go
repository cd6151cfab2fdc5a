package schema_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/schema"
)

// history: rl.a became rl.b in 1.1 and that rl.c in 1.2; rl.x and rl.y both became rl.z in 1.2; old.key became new.key in 1.1.
const history = `
groups:
  - id: registry.t
    type: attribute_group
    brief: Attributes.
    attributes:
      - id: old.key
        type: int
        brief: Old.
        deprecated: {reason: renamed, renamed_to: new.key}
      - {id: new.key, type: int, brief: New., annotations: {pitwall: {since: 1.1.0}}}
  - {id: metric.a, type: metric, metric_name: rl.a, brief: A., instrument: gauge, unit: "1",
     deprecated: {reason: renamed, renamed_to: rl.b}}
  - {id: metric.b, type: metric, metric_name: rl.b, brief: B., instrument: gauge, unit: "1",
     deprecated: {reason: renamed, renamed_to: rl.c}, annotations: {pitwall: {since: 1.1.0}}}
  - {id: metric.c, type: metric, metric_name: rl.c, brief: C., instrument: gauge, unit: "1", annotations: {pitwall: {since: 1.2.0}}}
  - {id: metric.x, type: metric, metric_name: rl.x, brief: X., instrument: gauge, unit: "1",
     deprecated: {reason: renamed, renamed_to: rl.z}}
  - {id: metric.y, type: metric, metric_name: rl.y, brief: Y., instrument: gauge, unit: "1",
     deprecated: {reason: renamed, renamed_to: rl.z}}
  - {id: metric.z, type: metric, metric_name: rl.z, brief: Z., instrument: gauge, unit: "1", annotations: {pitwall: {since: 1.2.0}}}
  - {id: metric.gone, type: metric, metric_name: rl.gone, brief: Gone., instrument: gauge, unit: "1",
     deprecated: {reason: obsoleted, note: Nobody sent it.}}
  - {id: span.old, type: span, name: rl.old, span_kind: internal, brief: Old.,
     deprecated: {reason: renamed, renamed_to: rl.new}}
  - {id: span.new, type: span, name: rl.new, span_kind: internal, brief: New., annotations: {pitwall: {since: 1.2.0}}}
  - {id: event.old, type: event, name: rl.told, brief: Old.,
     deprecated: {reason: renamed, renamed_to: rl.tell}}
  - {id: event.new, type: event, name: rl.tell, brief: New., annotations: {pitwall: {since: 1.2.0}}}
`

type renames = map[string]string

func TestChanges(t *testing.T) {
	r := ofVersion(t, "1.2.0", history)
	all := renames{"rl.a": "rl.c", "rl.b": "rl.c", "rl.x": "rl.z", "rl.y": "rl.z"}
	f := func(from string, wantBack, wantAttributesBack renames) {
		t.Helper()
		c, err := r.Changes(from)
		require.NoError(t, err)
		assert.False(t, c.Newer)
		assert.Equal(t, "1.2.0", c.To)
		// Forward, every superseded name is replaced: a producer of any version may still send one.
		assert.Equal(t, all, c.Metrics)
		assert.Equal(t, renames{"old.key": "new.key"}, c.Attributes)
		assert.Equal(t, renames{"rl.old": "rl.new"}, c.Spans)
		assert.Equal(t, renames{"rl.told": "rl.tell"}, c.Events)
		back := c.Reverse()
		assert.Equal(t, []string{c.To, c.From}, []string{back.From, back.To})
		assert.Equal(t, wantBack, back.Metrics, "back to %s", from)
		assert.Equal(t, wantAttributesBack, back.Attributes, "back to %s", from)
		assert.Same(t, c, back.Reverse())
	}
	// rl.z was two names: there is no way back.
	f("", renames{"rl.c": "rl.a"}, renames{"new.key": "old.key"})
	f("0", renames{"rl.c": "rl.a"}, renames{"new.key": "old.key"})
	f("0.1.0", renames{"rl.c": "rl.a"}, renames{"new.key": "old.key"})
	f("1.0.0", renames{"rl.c": "rl.a"}, renames{"new.key": "old.key"})
	f("1.1.0", renames{"rl.c": "rl.b"}, renames{})
	f("1.1.7", renames{"rl.c": "rl.b"}, renames{})
	f("1.2.0", renames{}, renames{})
}

func TestChangesOfANewerVersion(t *testing.T) {
	c, err := ofVersion(t, "1.2.0", history).Changes("1.3.0")
	require.NoError(t, err)
	assert.True(t, c.Newer)
	assert.Empty(t, c.Metrics)
	assert.Empty(t, c.Reverse().Metrics)
}

func TestChangesOfAnotherMajorVersion(t *testing.T) {
	r := ofVersion(t, "1.2.0", history)
	for _, version := range []string{"2.0.0", "3", "one", "1.x", "-1.0", "1.2.0-dev", "1..2"} {
		_, err := r.Changes(version)
		var unknown *schema.VersionError
		require.ErrorAs(t, err, &unknown, version)
		assert.Equal(t, schema.VersionError{Version: version, Registry: "1.2.0"}, *unknown)
		assert.EqualError(t, err, `schema version "`+version+`": this registry, 1.2.0, does not know what changed`)
	}
}

func TestCompareVersions(t *testing.T) {
	f := func(a, b string, want int) {
		t.Helper()
		assert.Equal(t, want, schema.CompareVersions(a, b), "%s and %s", a, b)
		assert.Equal(t, -want, schema.CompareVersions(b, a), "%s and %s", b, a)
	}
	f("1.0.0", "1.0.0", 0)
	f("1.0", "1.0.0", 0)
	f("0.9", "0.10", -1)
	f("2", "1.99.99", 1)
	f("", "0.1", -1)
	f("2026.9.1", "2026.10", -1)
}

// Forward and back again leaves a name of From alone, whatever the chain of renames, unless several names became one.
func FuzzChanges(f *testing.F) {
	for _, version := range []string{"", "0", "1.0.0", "1.1.0", "1.2.0", "1.9", "2.0.0", "x", "1.1.1.1"} {
		f.Add(version)
	}
	r := ofVersion(f, "1.2.0", history)
	f.Fuzz(func(t *testing.T, from string) {
		c, err := r.Changes(from)
		if err != nil {
			return
		}
		for now, then := range c.Reverse().Metrics {
			if c.Metrics[then] != now {
				t.Errorf("from %q: %s goes back to %s, which becomes %s", from, now, then, c.Metrics[then])
			}
		}
	})
}
