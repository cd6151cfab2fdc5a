package points_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// system.cpu.busy is sys.cpu_percent in the table, a hundred times its value. Of a quarantined resource nobody knows
// whether it is what the registry means; the next resource is not concerned.
func TestEncoder_QuarantinedPointsStayAsTheyCame(t *testing.T) {
	busy := func(md pmetric.Metrics, reason string) {
		rm := md.ResourceMetrics().AppendEmpty()
		if reason != "" {
			rm.Resource().Attributes().PutStr("pitwall.quarantine.reason", reason)
		}
		m := rm.ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
		m.SetName("system.cpu.busy")
		m.SetUnit("By")
		m.SetEmptyGauge().DataPoints().AppendEmpty().SetDoubleValue(0.25)
	}
	md := pmetric.NewMetrics()
	busy(md, "")
	busy(md, "unit")
	busy(md, "")
	settings := newSettings(t)
	settings.ResourceTags = []string{"pitwall.quarantine.reason"}
	rows, _ := encode(t, settings, md)

	stored := row{device: 65535, metric: "sys.cpu_percent", value: 25, unit: "%"}
	asSent := row{device: 65535, metric: "system.cpu.busy", value: 0.25, unit: "By", tags: `{"pitwall.quarantine.reason":"unit"}`}
	assert.Equal(t, []row{stored, asSent, stored}, rows)
}
