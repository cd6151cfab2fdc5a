package points_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// short is what differs between the rows of one histogram.
type short struct {
	metric string
	value  float64
	unit   string
	tags   string
}

func TestEncoder_ManyRowsPerPoint(t *testing.T) {
	f := func(name, metric string, want ...short) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			rows, _ := encode(t, newSettings(t), request(t, `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[`+metric+`]}]}]}`))
			var got []short
			for _, r := range rows {
				got = append(got, short{r.metric, r.value, r.unit, r.tags})
			}
			assert.ElementsMatch(t, want, got)
		})
	}
	f("histogram: own counts of the buckets that are not empty",
		`{"name":"ttft","unit":"s","histogram":{"aggregationTemporality":1,"dataPoints":[{"timeUnixNano":"1790000000123000000",
			"count":"10","sum":4.5,"min":0.01,"max":2,"explicitBounds":[0.05,0.5,1],"bucketCounts":["4","0","5","1"],
			"attributes":[{"key":"model","value":{"stringValue":"m"}}]}]}}`,
		short{"ttft.count", 10, "1", `{"model":"m"}`},
		short{"ttft.sum", 4.5, "s", `{"model":"m"}`},
		short{"ttft.min", 0.01, "s", `{"model":"m"}`},
		short{"ttft.max", 2, "s", `{"model":"m"}`},
		short{"ttft.bucket", 4, "1", `{"le":"0.05","model":"m"}`},
		short{"ttft.bucket", 5, "1", `{"le":"1","model":"m"}`},
		short{"ttft.bucket", 1, "1", `{"le":"+Inf","model":"m"}`})
	f("histogram without sum, minimum, maximum and buckets",
		`{"name":"h","unit":"s","histogram":{"dataPoints":[{"timeUnixNano":"1790000000123000000","count":"3"}]}}`,
		short{"h.count", 3, "1", ""})
	f("a histogram's own le loses to the bucket's",
		`{"name":"h","histogram":{"dataPoints":[{"timeUnixNano":"1790000000123000000","count":"1","bucketCounts":["1"],
			"attributes":[{"key":"le","value":{"stringValue":"own"}}]}]}}`,
		short{"h.count", 1, "1", `{"le":"own"}`},
		short{"h.bucket", 1, "1", `{"le":"+Inf"}`})
	// Scale -1 means base 4: index 2 ends at 4^3, index 4 at 4^5.
	f("exponential histogram: buckets with the bounds that its scale means",
		`{"name":"e","unit":"By","exponentialHistogram":{"dataPoints":[{"timeUnixNano":"1790000000123000000","count":"9","sum":1,"scale":-1,
			"zeroCount":"2","zeroThreshold":0.001,"positive":{"offset":2,"bucketCounts":["1","0","3"]},"negative":{"offset":0,"bucketCounts":["2","1"]}}]}}`,
		short{"e.count", 9, "1", ""},
		short{"e.sum", 1, "By", ""},
		short{"e.bucket", 2, "1", `{"le":"0.001"}`},
		short{"e.bucket", 1, "1", `{"le":"64"}`},
		short{"e.bucket", 3, "1", `{"le":"1024"}`},
		short{"e.bucket", 2, "1", `{"le":"-1"}`},
		short{"e.bucket", 1, "1", `{"le":"-4"}`})
	f("summary",
		`{"name":"s","unit":"ms","summary":{"dataPoints":[{"timeUnixNano":"1790000000123000000","count":"5","sum":50,
			"quantileValues":[{"quantile":0.5,"value":9},{"quantile":1,"value":20}]}]}}`,
		short{"s.count", 5, "1", ""},
		short{"s.sum", 50, "ms", ""},
		short{"s.quantile", 9, "ms", `{"quantile":"0.5"}`},
		short{"s.quantile", 20, "ms", `{"quantile":"1"}`})
}
