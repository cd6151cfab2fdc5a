package targets

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func target(t testing.TB, source, endpoint, kind string, labels map[string]string) Target {
	t.Helper()
	spec := Spec{Endpoint: endpoint, Kind: kind, Labels: labels}
	made, err := spec.Target(source)
	require.NoError(t, err)
	return made
}

func namesOf(all []Target) []string {
	var list []string
	for _, t := range all {
		list = append(list, t.Name)
	}
	return list
}

func TestMergeKeepsOneTargetPerEndpoint(t *testing.T) {
	registered := []Target{target(t, "registration", "http://A:1", "", map[string]string{"run": "7"})}
	static := []Target{
		target(t, "static", "b:1", "", nil),
		target(t, "static", "a:1", KindSGLang, map[string]string{"run": "6", "replica": "1"}),
	}
	router := []Target{target(t, "router", "b:1", "", map[string]string{"run": "7"}), target(t, "router", "c:1", "", nil)}
	merged, leftOut := Merge(10, registered, static, router)
	assert.Equal(t, []string{"a:1", "b:1", "c:1"}, namesOf(merged))
	assert.Zero(t, leftOut)
	assert.Equal(t, "registration", merged[0].Source)
	assert.Equal(t, KindSGLang, merged[0].Kind)
	assert.Equal(t, []Attribute{{Key: "rl.replica.id", Value: "1", Number: true}, {Key: "rl.run.id", Value: "7"}}, merged[0].Attributes)
	assert.Equal(t, "static", merged[1].Source)
	assert.Equal(t, []Attribute{{Key: "rl.run.id", Value: "7"}}, merged[1].Attributes)
	// The sources keep their lists and merge them again the next time.
	assert.Equal(t, []Attribute{{Key: "rl.run.id", Value: "7"}}, registered[0].Attributes)
}

func TestMergeLeavesOutTheLastLists(t *testing.T) {
	merged, leftOut := Merge(2,
		[]Target{target(t, "static", "z:1", "", nil)},
		[]Target{target(t, "router", "b:1", "", nil), target(t, "router", "a:1", "", nil), target(t, "router", "c:1", "", nil)},
		[]Target{target(t, "dns", "c:1", "", nil)})
	assert.Equal(t, []string{"b:1", "z:1"}, namesOf(merged))
	assert.Equal(t, 2, leftOut)
}
