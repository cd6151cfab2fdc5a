package xid

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/schema"
)

// The immediate resolution in NVIDIA's catalogue of September 2026, for the numbers that clusters see most.
func TestLookup(t *testing.T) {
	f := func(number uint64, severity Severity, action Action) {
		t.Helper()
		m, ok := Lookup(number)
		require.True(t, ok, number)
		assert.Equal(t, severity, m.Severity, number)
		assert.Equal(t, action, m.Action, number)
	}
	f(13, Error, RestartProcess)
	f(31, Error, RestartProcess)
	f(43, Error, RestartProcess)
	f(45, Info, Nothing)
	f(48, Fatal, ResetGPU)
	f(62, Fatal, ResetGPU)
	f(63, Info, Nothing)
	f(64, Fatal, ResetGPU)
	f(74, Error, ResetGPU)
	f(79, Fatal, RebootNode)
	f(92, Warning, Nothing)
	f(94, Error, RestartProcess)
	f(95, Fatal, ResetGPU)
	f(109, Fatal, ResetGPU)
	f(119, Fatal, ResetGPU)
	f(120, Fatal, ResetGPU)
	f(140, Fatal, ResetGPU)
	f(149, Error, ResetGPU)
}

func TestUnknownNumbersPass(t *testing.T) {
	for _, number := range []uint64{0, 1, 5, 999, math.MaxUint64} {
		m, ok := Lookup(number)
		assert.False(t, ok)
		assert.Contains(t, m.Name, "Xid ")
		assert.Contains(t, m.Advice, "catalogue")
	}
}

func TestWordsAreTheRegistrys(t *testing.T) {
	registry, err := schema.Load()
	require.NoError(t, err)
	severities := registry.Attribute("nvidia.gpu.error.severity").Members
	actions := registry.Attribute("nvidia.gpu.error.action").Members
	var known int
	for number := range uint64(1000) {
		m, ok := Lookup(number)
		if ok {
			known++
		}
		assert.Contains(t, severities, string(m.Severity), number)
		assert.Contains(t, actions, string(m.Action), number)
		assert.NotEmpty(t, m.Name, number)
	}
	assert.Greater(t, known, 80)
}
