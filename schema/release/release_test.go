package release

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/schema/source"
)

const old = `
version: 1.2.0
schema_url: https://example.com/1.2.0
attributes:
  way: {brief: Way., type: enum, members: [in, out]}
  disk: {brief: Disk., type: string}
  stale: {brief: Old., type: string, deprecated: renamed to disk in 1.1.0}
entities:
  run: {brief: Run., attributes: {disk: identifying required}}
metrics:
  io: {brief: Bytes., instrument: counter, unit: By, attributes: {way: required, disk: recommended}, table: ["x in By, times 1"]}
spans:
  rollout: {brief: Rollout., attributes: {disk: recommended}}
events:
  state: {brief: State.}
`

// Each case replaces one piece of the text above; the version says how far the registry moved.
func TestEveryRule(t *testing.T) {
	f := func(from, to, version string, want ...string) {
		t.Helper()
		before := read(t, old, "1.2.0")
		after := read(t, replaceOnce(t, old, from, to), "1.2.0")
		after.Version = version
		assert.Equal(t, want, Check(before, after, Compare(before, after)), "%q instead of %q as %s", to, from, version)
	}
	major := func(text string) string {
		return text + ": that is a major change, and the version went from 1.2.0 to 1.3.0 only"
	}
	minor := func(text string) string {
		return text + ": that is a minor change, and the version went from 1.2.0 to 1.2.1 only"
	}
	const metric = "  io: {brief: Bytes., instrument: counter, unit: By, attributes: {way: required, disk: recommended}, " +
		"table: [\"x in By, times 1\"]}\n"

	f("Bytes.", "All the bytes.", "1.2.0")
	f("Bytes.", "Bytes.", "1.1.9", "version 1.1.9 is older than the released 1.2.0")
	f(metric, "", "1.3.0", major("metric io is gone and was never superseded: keep it and mark it deprecated"))
	f(metric, "", "2.0.0")
	f("  stale: {brief: Old., type: string, deprecated: renamed to disk in 1.1.0}\n", "", "1.3.0",
		major("attribute stale is gone; it was renamed to disk in 1.1.0"))
	f("unit: By", "unit: s", "1.3.0", major(`metric io has another unit: "s", before "By"`))
	f("instrument: counter", "instrument: gauge", "1.3.0", major(`metric io has another instrument: "gauge", before "counter"`))
	f("disk: {brief: Disk., type: string}", "disk: {brief: Disk., type: int}", "1.3.0",
		major(`attribute disk has another type: "int", before "string"`))
	f("[in, out]", "[in]", "1.3.0", major(`attribute way no longer has the value "out"`))
	f("[in, out]", "[in, out, both]", "1.2.1", minor(`attribute way has the new value "both"`))
	f("[in, out]", "[in, out, both]", "1.3.0")
	f("x in By, times 1", "y in By, times 1", "1.3.0",
		major("metric io stands in the table as [y in By, times 1], before as [x in By, times 1]"))
	f(`"x in By, times 1"`, `"x in By, times 1", "y in By, times 1, for way=in"`, "1.3.0",
		major("metric io stands in the table as [x in By, times 1; y in By, times 1, for way=in], before as [x in By, times 1]"))
	f("{way: required, disk: recommended}", "{way: required}", "1.3.0", major("metric io no longer has the attribute disk"))
	f("{way: required, disk: recommended}", "{way: required, disk: required}", "1.3.0",
		major(`metric io has the attribute disk as "required", before "recommended"`))
	f("rollout: {brief: Rollout., attributes: {disk: recommended}}", "rollout: {brief: Rollout., attributes: {disk: recommended, way: required}}",
		"1.3.0", major("span rollout demands the new attribute way"))
	f("rollout: {brief: Rollout., attributes: {disk: recommended}}", "rollout: {brief: Rollout., attributes: {disk: recommended, way: opt_in}}",
		"1.2.1", minor("span rollout has the new attribute way"))
	f("{disk: identifying required}", "{disk: descriptive}", "1.3.0",
		major(`entity run has the attribute disk as "descriptive", before "identifying required"`))
	f("state: {brief: State.}", "state: {brief: State.}\n  step: {brief: Step.}", "1.2.1", minor("event step is new"))
	f("state: {brief: State.}", "states: {brief: State.}", "1.3.0",
		major("event state is gone and was never superseded: keep it and mark it deprecated"))
	f("unit: By", "unit: By, deprecated: renamed to bytes in 1.3.0", "1.2.1", minor("metric io is superseded: renamed to bytes in 1.3.0"))
	f("unit: By", "unit: By, deprecated: renamed to bytes in 1.3.0", "1.3.0")
	f("renamed to disk in 1.1.0", "renamed to way in 1.1.0", "1.3.0",
		major("attribute stale was renamed to disk in 1.1.0 and is now renamed to way in 1.1.0"))
}

func TestReleasedFilesAreWhatTheySay(t *testing.T) {
	_, err := Newest(fstest.MapFS{"1.3.0.yaml": {Data: []byte(old)}})
	assert.EqualError(t, err, `released schema: 1.3.0.yaml says version "1.2.0"`)
	_, err = Newest(fstest.MapFS{"1.2.0.yaml": {Data: []byte("versions: 1")}})
	assert.ErrorContains(t, err, "released schema: 1.2.0.yaml: ")
	newest, err := Newest(fstest.MapFS{"1.2.0.yaml": {Data: []byte(old)}, "1.10.0.yaml": {Data: []byte("version: 1.10.0")}})
	require.NoError(t, err)
	assert.Equal(t, "1.10.0", newest.Version)
	none, err := Newest(fstest.MapFS{})
	require.NoError(t, err)
	assert.Nil(t, none)
}

// What is written is what is read: else the gate would compare with something that was never released.
func TestReleaseSurvivesItsFile(t *testing.T) {
	registry, err := source.Load(os.DirFS(filepath.Join("..", "registry")))
	require.NoError(t, err)
	now := Of(registry.Compile())
	text, err := now.YAML()
	require.NoError(t, err)
	again := read(t, string(text), now.Version)
	assert.Empty(t, Compare(now, again))
	assert.Empty(t, Compare(again, now))
}

func read(t *testing.T, text, version string) *Release {
	t.Helper()
	r, err := Newest(fstest.MapFS{version + ".yaml": {Data: []byte(text)}})
	require.NoError(t, err)
	return r
}

func replaceOnce(t *testing.T, text, from, to string) string {
	t.Helper()
	require.Equal(t, 1, strings.Count(text, from), from)
	return strings.Replace(text, from, to, 1)
}
