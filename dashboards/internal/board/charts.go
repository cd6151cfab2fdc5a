package board

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/grafana/grafana-foundation-sdk/go/xychart"
)

// seriesName is the name of a line: its one label. Queries call it series.
const seriesName = "${__field.labels.series}"

// OverTime draws lines over the time axis. sql gives the columns time, series (a string) and value; without series the
// lines are called as the columns are.
func OverTime(text Text, sql string) *Panel {
	p := newPanel("timeseries", text, FormatTimeSeries, sql, 8, 8)
	p.Options = timeseries.Options{Legend: byMost(), Tooltip: tooltip()}
	p.defaults().Custom = &timeseries.FieldConfig{
		DrawStyle: cog.ToPtr(common.GraphDrawStyleLine), LineWidth: new(1.0), FillOpacity: new(8.0),
		ShowPoints: cog.ToPtr(common.VisibilityModeAuto), PointSize: new(4.0),
		// Points are joined over a few minutes; what stopped for longer must not look as if it slowed down.
		SpanNulls: &common.BoolOrFloat64{Float64: new(300000.0)},
	}
	p.defaults().DisplayName = new(seriesName)
	return p
}

// Columns says that the lines are the query's columns least, median and most.
func (p *Panel) Columns() *Panel {
	p.defaults().DisplayName = nil
	return p.Column("least", Fixed("light-blue")).Column("median", Fixed(Green)).Column("most", Fixed("orange"))
}

// Joined joins points that are at most so many milliseconds apart.
func (p *Panel) Joined(milliseconds float64) *Panel {
	p.defaults().Custom.(*timeseries.FieldConfig).SpanNulls = &common.BoolOrFloat64{Float64: new(milliseconds)}
	return p
}

// Shares stacks the lines of a panel over time to the whole.
func (p *Panel) Shares() *Panel {
	p.Stacked(false)
	p.defaults().Custom.(*timeseries.FieldConfig).Stacking.Mode = cog.ToPtr(common.StackingModePercent)
	return p
}

// Stacked puts the lines of a panel over time on each other, as bars or as areas.
func (p *Panel) Stacked(bars bool) *Panel {
	c := p.defaults().Custom.(*timeseries.FieldConfig)
	c.Stacking = &common.StackingConfig{Mode: cog.ToPtr(common.StackingModeNormal), Group: new("A")}
	c.FillOpacity, c.LineWidth, c.SpanNulls = new(60.0), new(0.0), nil
	if bars {
		c.DrawStyle, c.FillOpacity = cog.ToPtr(common.GraphDrawStyleBars), new(90.0)
	}
	return p
}

// Dots draws points, and lines between those up to an hour apart: for what is measured now and then.
func (p *Panel) Dots() *Panel {
	switch c := p.defaults().Custom.(type) {
	case *timeseries.FieldConfig:
		c.ShowPoints, c.PointSize = cog.ToPtr(common.VisibilityModeAlways), new(6.0)
		p.Joined(3600000)
	case *xychart.FieldConfig:
		c.Show = cog.ToPtr(xychart.XYShowModePointsAndLines)
	}
	return p
}

// Log makes the scale logarithmic; what is not above 0 is not drawn.
func (p *Panel) Log() *Panel {
	scale := &common.ScaleDistributionConfig{Type: common.ScaleDistributionLog, Log: new(10.0)}
	switch c := p.defaults().Custom.(type) {
	case *timeseries.FieldConfig:
		c.ScaleDistribution = scale
	case *xychart.FieldConfig:
		c.ScaleDistribution = scale
	}
	return p
}

// OverSteps draws lines over the training step. sql gives the columns step, series (a string) and value, in the order of
// the steps.
func OverSteps(text Text, sql string) *Panel { return xy(text, "step", sql) }

// Over draws lines over the column x, a number. sql gives x, series and value, in the order of x.
func Over(x string, text Text, sql string) *Panel { return xy(text, x, sql) }

func xy(text Text, x, sql string) *Panel {
	p := newPanel("xychart", text, FormatTable, sql, 8, 8)
	// One frame per series, its name as a label; the chart draws each frame's last number over its first.
	p.Transformations = []dashboard.DataTransformerConfig{{Id: "partitionByValues", Options: map[string]any{
		"fields": []string{"series"}, "keepFields": false, "naming": map[string]bool{"asLabels": true},
	}}}
	p.Options = xychart.Options{
		Mapping: xychart.SeriesMappingAuto, Legend: legend(), Tooltip: common.VizTooltipOptions{
			Mode: common.TooltipDisplayModeSingle, Sort: common.SortOrderNone,
		}, Series: []xychart.XYSeriesConfig{},
	}
	p.defaults().Custom = &xychart.FieldConfig{
		Show: cog.ToPtr(xychart.XYShowModeLines), LineWidth: new(int32(1)),
		PointSize: &xychart.XychartFieldConfigPointSize{Fixed: new(int32(4))},
	}
	p.defaults().DisplayName = new(seriesName)
	return p.Column(x, Unit("short"), Property{Id: "displayName", Value: x}, Property{Id: "custom.axisLabel", Value: x})
}
