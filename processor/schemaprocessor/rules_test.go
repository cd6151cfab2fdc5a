package schemaprocessor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/schema"
	"github.com/pitwall-otel/pitwall/schema/names"
)

func small(t testing.TB) *schema.Registry {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "small.yaml"))
	require.NoError(t, err)
	return registryOf(t, "1.0.0", string(text))
}

// only sets the modes of rules written "unit=reject".
func only(t testing.TB, modes string) func(*Config) {
	t.Helper()
	return func(c *Config) {
		all := map[string]*ruleMode{
			"unknown_name": &c.Rules.UnknownName, "bad_name": &c.Rules.BadName, "unit": &c.Rules.Unit, "instrument": &c.Rules.Instrument,
			"attribute_unknown": &c.Rules.AttributeUnknown, "attribute_missing": &c.Rules.AttributeMissing,
			"attribute_type": &c.Rules.AttributeType, "attribute_value": &c.Rules.AttributeValue,
			"identity_missing": &c.Rules.IdentityMissing, "version_unknown": &c.Rules.VersionUnknown,
		}
		for field := range strings.FieldsSeq(modes) {
			rule, mode, _ := strings.Cut(field, "=")
			require.Contains(t, all, rule)
			*all[rule] = ruleMode(mode)
		}
	}
}

// What each rule finds, and what each mode does about it.
func TestRules(t *testing.T) {
	r := small(t)
	f := func(modes string, md pmetric.Metrics, want ...string) {
		t.Helper()
		got, err := newTest(t, r, metricsSignal, only(t, modes)).processMetrics(t.Context(), md)
		assert.Equal(t, want == nil, err != nil, "an empty request is skipped")
		assert.Equal(t, want, lines(got))
	}
	const stat, mean = "rl.stat", "mean"
	good := "rl.score Gauge 1 1 rl.stat=mean"
	f("", gauge("", "rl.score", "1", 1, stat, mean), good)

	f("", gauge("", "my.own", "", 1), "my.own Gauge  1")
	f("unknown_name=quarantine", gauge("", "my.own", "", 1), "(unknown_name: the registry does not have it) my.own Gauge  1")
	f("unknown_name=reject", gauge("", "my.own", "", 1))

	f("", gauge("", "", "1", 1), `(bad_name: "" is not a name)  Gauge 1 1`)
	f("bad_name=observe", gauge("", " ", "", 1), "Gauge  1")
	f("bad_name=reject", gauge("", strings.Repeat("x", 1025), "", 1))

	// A unit that can be converted, one that cannot, and none.
	f("", gauge("", "rl.score", "%", 50, stat, mean), "rl.score Gauge 1 0.5 rl.stat=mean")
	f("unit=observe", gauge("", "rl.score", "%", 50, stat, mean), "rl.score Gauge % 50 rl.stat=mean")
	f("unit=quarantine", gauge("", "rl.score", "%", 50, stat, mean), `(unit: "%", not "1") rl.score Gauge % 50 rl.stat=mean`)
	f("unit=reject", gauge("", "rl.score", "%", 50, stat, mean))
	f("", gauge("", "rl.memory", "s", 1), `(unit: "s", not "By") rl.memory Gauge s 1`)
	f("unit=observe", gauge("", "rl.memory", "s", 1), "rl.memory Gauge s 1")
	f("", gauge("", "rl.memory", "", 1), "rl.memory Gauge By 1")
	f("unit=reject", gauge("", "rl.memory", "bytes", 1), "rl.memory Gauge By 1")

	f("", gauge("", "rl.tokens.output", "{token}", 1), "rl.tokens.output Gauge {token} 1")
	f("instrument=quarantine", gauge("", "rl.tokens.output", "{token}", 1), "(instrument: gauge, not counter) rl.tokens.output Gauge {token} 1")
	f("instrument=quarantine unit=observe", gauge("", "rl.tokens.output", "s", 1), "(instrument: gauge, not counter) rl.tokens.output Gauge s 1")
	f("instrument=reject", gauge("", "rl.tokens.output", "{token}", 1))

	f("", gauge("", "rl.score", "1", 1, stat, mean, "mine", "x"), "rl.score Gauge 1 1 mine=x rl.stat=mean")
	f("attribute_unknown=quarantine", gauge("", "rl.score", "1", 1, stat, mean, "mine", "x"),
		`(attribute_unknown: mine = "x") rl.score Gauge 1 1 mine=x rl.stat=mean`)
	f("attribute_unknown=reject", gauge("", "rl.score", "1", 1, stat, mean, "rl.tier", "none"))
	f("attribute_unknown=reject", gauge("", "rl.score", "1", 1, stat, mean, "rl.rank", 3, "rl.run.id", "r"),
		"rl.score Gauge 1 1 rl.rank=int:3 rl.run.id=r rl.stat=mean")

	f("", gauge("", "rl.score", "1", 1), "rl.score Gauge 1 1")
	f("attribute_missing=quarantine", gauge("", "rl.score", "1", 1), "(attribute_missing: rl.stat) rl.score Gauge 1 1")
	f("attribute_missing=reject", gauge("", "rl.score", "1", 1))
	f("attribute_missing=reject", gauge("sglang", "score", "", 50), "rl.score Gauge 1 0.5 rl.stat=mean")

	f("", gauge("", "rl.score", "1", 1, stat, mean, "rl.step", "7"), "rl.score Gauge 1 1 rl.stat=mean rl.step=int:7")
	f("", gauge("", "rl.score", "1", 1, stat, mean, "rl.step", "seven"),
		`(attribute_type: rl.step = "seven") rl.score Gauge 1 1 rl.stat=mean rl.step=seven`)
	f("attribute_type=observe", gauge("", "rl.score", "1", 1, stat, mean, "rl.step", "7"), "rl.score Gauge 1 1 rl.stat=mean rl.step=7")
	f("attribute_type=quarantine", gauge("", "rl.score", "1", 1, stat, mean, "rl.step", "7"),
		`(attribute_type: rl.step = "7") rl.score Gauge 1 1 rl.stat=mean rl.step=7`)
	f("attribute_type=reject", gauge("", "rl.score", "1", 1, stat, mean, "rl.step", "7"))

	f("", gauge("", "rl.score", "1", 1, stat, "p99"), "rl.score Gauge 1 1 rl.stat=p99")
	f("attribute_value=quarantine", gauge("", "rl.score", "1", 1, stat, "p99"), `(attribute_value: rl.stat = "p99") rl.score Gauge 1 1 rl.stat=p99`)
	f("attribute_value=reject", gauge("", "rl.score", "1", 1, stat, "p99"))
	f("attribute_value=quarantine", gauge("sglang", "prompt_total", "", 1, "source", "disk"),
		`(attribute_value: source = "disk") prompt_total Gauge  1 source=disk`)

	// The gravest mode counts.
	f("unit=observe attribute_value=reject attribute_missing=quarantine", gauge("", "rl.score", "%", 1, stat, "p99"))
}

// Counts and reasons use the registry's words.
func TestRulesAndModesAreTheRegistrys(t *testing.T) {
	r := shipped(t)
	for known := range ruleCount {
		assert.Contains(t, r.Attribute(names.AttributePitwallSchemaRule).Members, known.String())
	}
	for known := range actionCount {
		assert.Contains(t, r.Attribute(names.AttributePitwallSchemaAction).Members, known.String())
	}
}

// Required identity may stand on the point, its scope or its resource.
func TestRequiredIdentity(t *testing.T) {
	r := small(t)
	f := func(want string, set func(pmetric.ResourceMetrics)) {
		t.Helper()
		md := gauge("", "my.own", "", 1)
		set(md.ResourceMetrics().At(0))
		got, err := newTest(t, r, metricsSignal, func(c *Config) {
			c.RequiredIdentity = []string{"rl.run.id"}
			c.Rules.IdentityMissing = modeQuarantine
		}).processMetrics(t.Context(), md)
		require.NoError(t, err)
		assert.Equal(t, []string{want}, lines(got))
	}
	point := func(rm pmetric.ResourceMetrics) pmetric.NumberDataPoint {
		return rm.ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints().At(0)
	}
	f("(identity_missing: rl.run.id) my.own Gauge  1", func(pmetric.ResourceMetrics) {})
	f("my.own Gauge  1", func(rm pmetric.ResourceMetrics) { rm.Resource().Attributes().PutStr("rl.run.id", "r") })
	f("my.own Gauge  1", func(rm pmetric.ResourceMetrics) { rm.Resource().Attributes().PutStr("run_id", "r") })
	f("my.own Gauge  1", func(rm pmetric.ResourceMetrics) {
		rm.ScopeMetrics().At(0).Scope().Attributes().PutStr("rl.run.id", "r")
	})
	// More keys than are remembered, on a metric that has them all.
	crowd := gauge("", "rl.score", "1", 1, "rl.stat", "mean")
	on := crowd.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints().At(0).Attributes()
	for i := range 2 * maxStrangers {
		on.PutInt(fmt.Sprint("k", i), 1)
	}
	on.PutStr("team", "a")
	p := newTest(t, r, metricsSignal, func(c *Config) {
		c.RequiredIdentity = []string{"team"}
		c.Rules.IdentityMissing = modeReject
	})
	got, err := p.processMetrics(t.Context(), crowd)
	require.NoError(t, err)
	assert.Equal(t, 1, got.DataPointCount())
	f("my.own Gauge  1 rl.run.id=r", func(rm pmetric.ResourceMetrics) { point(rm).Attributes().PutStr("run_id", "r") })
}

// One point of a metric is set apart; the others go on, and nothing is lost.
func TestOnlyTheOffendingPointsAreSetApart(t *testing.T) {
	md := gauge("", "rl.score", "%", 50, "rl.stat", "mean")
	points := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints()
	for i, step := range []any{"x", 8, "y", "x", "9"} {
		p := points.AppendEmpty()
		p.SetIntValue(int64(i))
		put2(p.Attributes(), []any{"rl.stat", "mean", "rl.step", step})
	}
	md.ResourceMetrics().At(0).Resource().Attributes().PutStr("rl.run.id", "r")
	got, err := newTest(t, small(t), metricsSignal, nil).processMetrics(t.Context(), md)
	require.NoError(t, err)
	assert.Equal(t, []string{
		`(attribute_type: rl.step = "x") rl.score Gauge % 0 rl.stat=mean rl.step=x`,
		`(attribute_type: rl.step = "x") rl.score Gauge % 3 rl.stat=mean rl.step=x`,
		`(attribute_type: rl.step = "y") rl.score Gauge % 2 rl.stat=mean rl.step=y`,
		"rl.score Gauge 1 0.01 rl.stat=mean rl.step=int:8",
		"rl.score Gauge 1 0.04 rl.stat=mean rl.step=int:9",
		"rl.score Gauge 1 0.5 rl.stat=mean",
	}, lines(got))
	require.Equal(t, 3, got.ResourceMetrics().Len())
	assert.Equal(t, `pitwall.quarantine.reason=attribute_type: rl.step = "x" pitwall.schema.rule=attribute_type rl.run.id=r`, show(got.ResourceMetrics().At(1).Resource().Attributes()))
	// What was set apart passes another such processor untouched.
	again, err := newTest(t, small(t), metricsSignal, only(t, "attribute_type=reject unit=reject")).processMetrics(t.Context(), got)
	require.NoError(t, err)
	assert.Equal(t, 6, again.DataPointCount())
}

// A thousand different reasons do not make a thousand copies of a resource.
func TestReasonsAreBounded(t *testing.T) {
	md := gauge("", "rl.score", "1", 1, "rl.stat", "mean")
	points := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints()
	for i := range 1000 {
		put2(points.AppendEmpty().Attributes(), []any{"rl.stat", "mean", "rl.step", strings.Repeat("x", i)})
	}
	got, err := newTest(t, small(t), metricsSignal, nil).processMetrics(t.Context(), md)
	require.NoError(t, err)
	assert.Equal(t, 1001, got.DataPointCount())
	assert.LessOrEqual(t, got.ResourceMetrics().Len(), maxReasons+2)
	for _, rm := range got.ResourceMetrics().All() {
		assert.LessOrEqual(t, len(text(rm.Resource().Attributes(), reasonKey)), 200)
	}
}

func TestAnUnknownNameIsFlagged(t *testing.T) {
	md := gauge("", "my.own", "", 1)
	_, err := newTest(t, small(t), metricsSignal, nil).processMetrics(t.Context(), md)
	require.NoError(t, err)
	m := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0)
	assert.Equal(t, "pitwall.schema=unknown", show(m.Metadata()))
}
