package board

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// Panel is one panel before it has its place.
type Panel struct {
	dashboard.Panel
	width, height uint32
}

// Text of a panel: what the number is, which metrics it is made of, what a high one means. Unit is Grafana's id of it.
type Text struct{ Title, About, Unit string }

func newPanel(kind string, text Text, format Format, sql string, width, height uint32) *Panel {
	p := &Panel{width: width, height: height}
	p.Type, p.Title, p.Description = kind, new(text.Title), new(text.About)
	p.Datasource = datasource()
	p.Targets = []variants.Dataquery{newQuery(format, sql)}
	p.FieldConfig = &dashboard.FieldConfigSource{
		Defaults: dashboard.FieldConfig{
			Unit: new(text.Unit), NoValue: new(noData), Mappings: []dashboard.ValueMapping{noDataMapping()},
			Color: &dashboard.FieldColor{Mode: dashboard.FieldColorModeIdPaletteClassic},
		},
		Overrides: []dashboard.DashboardFieldConfigSourceOverrides{},
	}
	return p
}

// defaults are what holds for all columns and series of the panel.
func (p *Panel) defaults() *dashboard.FieldConfig { return &p.FieldConfig.Defaults }

// Size sets the panel's width, of 24, and its height.
func (p *Panel) Size(width, height uint32) *Panel {
	p.width, p.height = width, height
	return p
}

// Range fixes the scale. What is a share goes from 0 to 1, or to 100.
func (p *Panel) Range(least, most float64) *Panel {
	p.defaults().Min, p.defaults().Max = new(least), new(most)
	return p
}

// FromZero lets the scale start at 0.
func (p *Panel) FromZero() *Panel {
	p.defaults().Min = new(0.0)
	return p
}

// Decimals fixes how many are shown.
func (p *Panel) Decimals(n float64) *Panel {
	p.defaults().Decimals = new(n)
	return p
}

// Every keeps the server from cutting time finer than points come; interval is such as "30s".
func (p *Panel) Every(interval string) *Panel {
	p.Interval = new(interval)
	return p
}

// Lights colours values by limits: the first colour below the first limit, and so on.
func (p *Panel) Lights(first string, limits ...Limit) *Panel {
	p.defaults().Thresholds = thresholds(first, limits)
	p.defaults().Color = &dashboard.FieldColor{Mode: dashboard.FieldColorModeIdThresholds}
	return p
}

// Names gives values a text and a colour; in a panel of one kind of value.
func (p *Panel) Names(named ...Named) *Panel {
	p.defaults().Mappings = append([]dashboard.ValueMapping{valueMapping(named)}, p.defaults().Mappings...)
	return p
}

// Link opens url, which may use Grafana's variables, from a value or a series.
func (p *Panel) Link(title, url string) *Panel {
	p.defaults().Links = append(p.defaults().Links, link(title, url))
	return p
}

// Series sets properties of the series whose names match a regular expression.
func (p *Panel) Series(pattern string, properties ...Property) *Panel {
	p.FieldConfig.Overrides = append(p.FieldConfig.Overrides, dashboard.DashboardFieldConfigSourceOverrides{
		Matcher: dashboard.MatcherConfig{Id: "byRegexp", Options: pattern}, Properties: properties,
	})
	return p
}

// Column sets properties of one column or series by its name.
func (p *Panel) Column(name string, properties ...Property) *Panel {
	p.FieldConfig.Overrides = append(p.FieldConfig.Overrides, dashboard.DashboardFieldConfigSourceOverrides{
		Matcher: dashboard.MatcherConfig{Id: "byName", Options: name}, Properties: properties,
	})
	return p
}

func link(title, url string) dashboard.DashboardLink {
	return dashboard.DashboardLink{Title: title, Url: new(url), Type: dashboard.DashboardLinkTypeLink, Tags: []string{}}
}

// legend is a list below the panel; with calcs it is a table of them.
func legend(calcs ...string) common.VizLegendOptions {
	l := *common.NewVizLegendOptions()
	l.ShowLegend = true
	if len(calcs) > 0 {
		l.DisplayMode, l.Calcs = common.LegendDisplayModeTable, calcs
	}
	return l
}

// byMost is a legend whose first line is the highest.
func byMost() common.VizLegendOptions {
	l := legend("lastNotNull", "max")
	l.SortBy, l.SortDesc = new("Max"), new(true)
	return l
}

// tooltip shows all series at a moment, the highest first.
func tooltip() common.VizTooltipOptions {
	return common.VizTooltipOptions{Mode: common.TooltipDisplayModeMulti, Sort: common.SortOrderDescending}
}

func hidden() common.VizLegendOptions {
	l := *common.NewVizLegendOptions()
	l.ShowLegend = false
	return l
}
