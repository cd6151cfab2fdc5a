package board

import (
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/bargauge"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/grafana/grafana-foundation-sdk/go/table"
)

// Number shows one number, or one per row of the query with the columns series and value.
func Number(text Text, sql string) *Panel {
	p := newPanel("stat", text, FormatTable, sql, 4, 4)
	p.Options = stat.Options{
		GraphMode: common.BigValueGraphModeNone, ColorMode: common.BigValueColorModeValue,
		JustifyMode: common.BigValueJustifyModeAuto, TextMode: common.BigValueTextModeAuto, WideLayout: true,
		ReduceOptions:          common.ReduceDataOptions{Values: new(true), Calcs: []string{"lastNotNull"}},
		PercentChangeColorMode: common.PercentChangeColorModeStandard, Orientation: common.VizOrientationAuto,
	}
	return p.Neutral()
}

// Words lets the column value of a panel of numbers be a text.
func (p *Panel) Words() *Panel {
	options := p.Options.(stat.Options)
	options.ReduceOptions.Fields = new("/^value$/")
	p.Options = options
	return p
}

// Bars shows a bar per row of the query with the columns series and value.
func Bars(text Text, sql string) *Panel {
	p := newPanel("bargauge", text, FormatTable, sql, 8, 8)
	p.Options = bargauge.Options{
		DisplayMode: common.BarGaugeDisplayModeBasic, ValueMode: common.BarGaugeValueModeColor,
		NamePlacement: common.BarGaugeNamePlacementAuto, ShowUnfilled: true, Sizing: common.BarGaugeSizingAuto,
		MinVizWidth: 8, MinVizHeight: 16, MaxVizHeight: 300, Legend: hidden(),
		ReduceOptions: common.ReduceDataOptions{Values: new(true), Calcs: []string{"lastNotNull"}},
		Orientation:   common.VizOrientationHorizontal,
	}
	return p.Neutral()
}

// Table shows the query's rows.
func Table(text Text, sql string) *Panel {
	p := newPanel("table", text, FormatTable, sql, 24, 10)
	p.Options = table.Options{ShowHeader: true, CellHeight: cog.ToPtr(common.TableCellHeightSm)}
	p.defaults().Custom = &table.FieldConfig{
		Align: common.FieldTextAlignmentAuto, Inspect: true, Filterable: new(true),
		CellOptions: &common.TableCellOptions{TableAutoCellOptions: common.NewTableAutoCellOptions()},
	}
	// A text that looks like a number is none.
	p.FieldConfig.Overrides = append(p.FieldConfig.Overrides, dashboard.DashboardFieldConfigSourceOverrides{
		Matcher: dashboard.MatcherConfig{Id: "byType", Options: "string"}, Properties: []Property{Unit("string")},
	})
	for _, c := range []struct {
		name  string
		width int
	}{{"time", 170}, {"run", 210}, {"step", 80}, {"attempt", 80}, {"rank", 80}, {"layer", 80}, {"expert", 80}, {"k", 60}} {
		if strings.Contains(sql, " AS "+c.name) || strings.Contains(sql, " "+c.name+",") {
			p.Column(c.name, Width(c.width))
		}
	}
	return p
}

// Heat shows a coloured cell per moment and lane. sql gives time, series (the lane, zero-padded) and value.
func Heat(text Text, sql string) *Panel {
	p := newPanel("heatmap", text, FormatTimeSeries, sql, 12, 10)
	options := heatmap.NewOptions()
	options.Color.Mode, options.Color.Scheme = cog.ToPtr(heatmap.HeatmapColorModeScheme), "RdYlGn"
	options.RowsFrame = &heatmap.RowsHeatmapOptions{Layout: cog.ToPtr(common.HeatmapCellLayoutAuto)}
	options.FilterValues = nil
	options.CellValues = &heatmap.CellValues{Unit: new(text.Unit)}
	options.Legend.Show, options.Tooltip.Mode = true, common.TooltipDisplayModeSingle
	p.Options = options
	p.defaults().Custom = heatmap.NewFieldConfig()
	p.defaults().DisplayName = new(seriesName)
	return p
}

// Colours of a heatmap: Grafana's name of the scheme and the values at its ends.
func (p *Panel) Colours(scheme string, reverse bool, least, most float32) *Panel {
	color := &p.Options.(*heatmap.Options).Color
	color.Scheme, color.Reverse, color.Min, color.Max = scheme, reverse, new(least), new(most)
	return p
}

// Scheme of a heatmap whose ends are the least and the greatest value.
func (p *Panel) Scheme(scheme string) *Panel {
	p.Options.(*heatmap.Options).Color.Scheme = scheme
	return p
}

// Lanes shows what state each lane is in: sql gives time, series (the lane, zero-padded) and value, a number that named
// gives a text and a colour. Twenty lanes stand on a page.
func Lanes(text Text, sql string, named ...Named) *Panel {
	p := newPanel("state-timeline", text, FormatTimeSeries, sql, 24, 12)
	options := statetimeline.NewOptions()
	options.ShowValue, options.Legend, options.Tooltip = common.VisibilityModeAuto, legend(), tooltip()
	options.PerPage = new(20.0)
	p.Options = options
	custom := statetimeline.NewFieldConfig()
	custom.SpanNulls = &statetimeline.BoolOrUint32{Bool: new(false)}
	p.defaults().Custom = custom
	p.defaults().DisplayName = new(seriesName)
	// Not by thresholds: Grafana then merges equal values by their threshold's text and does not look at the names. And no name for
	// null: it would be drawn as a state.
	p.defaults().Color = &dashboard.FieldColor{Mode: dashboard.FieldColorModeIdFixed, FixedColor: new(Gray)}
	p.defaults().Mappings = []dashboard.ValueMapping{valueMapping(named)}
	return p
}

// Lasting lets a lane's state last over so many milliseconds without a value, where values do not come in every interval.
func (p *Panel) Lasting(milliseconds uint32) *Panel {
	custom := p.defaults().Custom.(*statetimeline.FieldConfig)
	custom.SpanNulls = &statetimeline.BoolOrUint32{Uint32: new(milliseconds)}
	return p
}

// Trace shows one trace.
func Trace(text Text, sql string) *Panel {
	p := newPanel("traces", text, FormatTraces, sql, 24, 14)
	p.Options = map[string]any{}
	return p
}
