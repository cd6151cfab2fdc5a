package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// Each request is what one host of 8 ranks sends after a step: 8 resources of 125 gauges.
const (
	ranksPerRequest  = 8
	metricsPerRank   = 125
	pointsPerRequest = ranksPerRequest * metricsPerRank
)

// newRequests makes requests of 50 runs on 8 hosts of 8 ranks; 60 % of the points carry attributes of their own.
func newRequests(n int) []pmetric.Metrics {
	random := rand.New(rand.NewPCG(1, 2))
	requests := make([]pmetric.Metrics, n)
	start := time.Now().Add(-time.Hour)
	for i := range requests {
		requests[i] = pmetric.NewMetrics()
		run, host, step := i%50, i/50%8, i/400
		for rank := range ranksPerRequest {
			rm := requests[i].ResourceMetrics().AppendEmpty()
			resource := rm.Resource().Attributes()
			resource.PutStr("rl.run.id", fmt.Sprintf("run-%02d", run))
			resource.PutStr("host.name", fmt.Sprintf("node-%d", host))
			resource.PutInt("rl.rank.global", int64(host*8+rank))
			resource.PutStr("rl.role", "actor")
			resource.PutStr("service.name", "trainer")
			sm := rm.ScopeMetrics().AppendEmpty()
			sm.Scope().SetName("trainer")
			at := pcommon.NewTimestampFromTime(start.Add(time.Duration(i) * 10 * time.Millisecond))
			for m := range metricsPerRank {
				metric := sm.Metrics().AppendEmpty()
				metric.SetName(fmt.Sprintf("train/layer_%02d/norm_%d", m/4, m%4))
				metric.SetUnit("1")
				dp := metric.SetEmptyGauge().DataPoints().AppendEmpty()
				dp.SetTimestamp(at)
				dp.SetDoubleValue(random.NormFloat64())
				dp.Attributes().PutInt("rl.step", int64(step))
				if m%5 > 1 {
					dp.Attributes().PutStr("layer", fmt.Sprintf("decoder.%d", m/4))
				}
				if m%5 > 3 {
					dp.Attributes().PutBool("clipped", m%2 == 0)
				}
			}
		}
	}
	return requests
}
