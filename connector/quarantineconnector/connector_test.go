package quarantineconnector

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/connector/connectortest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pipeline"

	"github.com/pitwall-otel/pitwall/connector/quarantineconnector/internal/metadata"
)

// id is a pipeline of a signal: "" is the signal's pipeline without a name.
func id(signal pipeline.Signal, name string) pipeline.ID { return pipeline.NewIDWithName(signal, name) }

// startMetrics makes the connector as the collector does, between the pipelines given by their names.
func startMetrics(t testing.TB, c *Config, next map[string]consumer.Metrics) consumer.Metrics {
	t.Helper()
	pipelines := map[pipeline.ID]consumer.Metrics{}
	for name, p := range next {
		pipelines[id(pipeline.SignalMetrics, name)] = p
	}
	made, err := NewFactory().CreateMetricsToMetrics(t.Context(), connectortest.NewNopSettings(metadata.Type), c, connector.NewMetricsRouter(pipelines))
	require.NoError(t, err)
	start(t, made)
	return made
}

func start(t testing.TB, c component.Component) {
	t.Helper()
	require.NoError(t, c.Start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() { require.NoError(t, c.Shutdown(t.Context())) })
}

func TestConnector_NeedsAPipelineOnEitherSide(t *testing.T) {
	f := func(want string, quarantine []pipeline.ID, exportsTo ...string) {
		t.Helper()
		pipelines := map[pipeline.ID]consumer.Metrics{}
		for _, name := range exportsTo {
			pipelines[id(pipeline.SignalMetrics, name)] = consumertest.NewNop()
		}
		_, err := NewFactory().CreateMetricsToMetrics(t.Context(), connectortest.NewNopSettings(metadata.Type),
			&Config{Quarantine: quarantine}, connector.NewMetricsRouter(pipelines))
		assert.ErrorContains(t, err, want)
	}
	bad := id(pipeline.SignalMetrics, "bad")
	f(`'quarantine' lists no metrics pipeline`, []pipeline.ID{id(pipeline.SignalLogs, "bad")}, "bad", "good")
	f(`'quarantine' lists "metrics/bad", which does not have this connector as a receiver`, []pipeline.ID{bad}, "good")
	f(`'quarantine' lists every metrics pipeline`, []pipeline.ID{bad}, "bad")
}

func TestConnector_NeedsTheCollectorsRouter(t *testing.T) {
	_, err := NewFactory().CreateLogsToLogs(t.Context(), connectortest.NewNopSettings(metadata.Type),
		&Config{Quarantine: []pipeline.ID{id(pipeline.SignalLogs, "bad")}}, consumertest.NewNop())
	assert.ErrorContains(t, err, "does not name its pipelines")
}

// Pipelines of other signals in the list are for the connector's other instances.
func TestConnector_OneListForAllSignals(t *testing.T) {
	c := &Config{Quarantine: []pipeline.ID{id(pipeline.SignalTraces, "bad"), id(pipeline.SignalMetrics, "bad")}}
	good, bad := new(consumertest.MetricsSink), new(consumertest.MetricsSink)
	made := startMetrics(t, c, map[string]consumer.Metrics{"": good, "bad": bad})
	require.NoError(t, made.ConsumeMetrics(t.Context(), metrics("?m", "n")))
	assert.Equal(t, []string{"n"}, metricNames(good))
	assert.Equal(t, []string{"?m"}, metricNames(bad))
}
