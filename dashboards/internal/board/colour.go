package board

import (
	"strconv"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// Colours of the traffic light, and of what is not known.
const (
	Green  = "green"
	Yellow = "yellow"
	Red    = "red"
	Gray   = "#808080"
	Blue   = "blue"
)

const noData = "no data"

// Limit is where a colour begins.
type Limit struct {
	From   float64
	Colour string
}

// Named is a value with a text and a colour.
type Named struct {
	Value  string
	Text   string
	Colour string
}

// TrafficLight is for shares where 1 is best: red, yellow from 0.3, green from 0.7.
func (p *Panel) TrafficLight() *Panel {
	return p.Lights(Red, Limit{0.3, Yellow}, Limit{0.7, Green})
}

// ByName gives a line its colour by its name: the same run has the same colour in all panels.
func (p *Panel) ByName() *Panel {
	p.defaults().Color = &dashboard.FieldColor{Mode: dashboard.FieldColorModeIdPaletteClassicByName}
	return p
}

// Percentiles colours lines whose names end in p50, p90 and the like.
func (p *Panel) Percentiles() *Panel {
	return p.Series("/p(10|50)$/", Fixed(Green)).Series("/p90$/", Fixed(Yellow)).Series("/p99$/", Fixed(Red))
}

// Phases colours lines by the ends of their names.
func (p *Panel) Phases(phases []Named) *Panel {
	for _, phase := range phases {
		p.Series("/(^| )"+phase.Text+"$/", Fixed(phase.Colour))
	}
	return p
}

// Neutral is one colour for every value.
func (p *Panel) Neutral() *Panel { return p.Lights(Blue) }

func thresholds(first string, limits []Limit) *dashboard.ThresholdsConfig {
	config := &dashboard.ThresholdsConfig{
		Mode: dashboard.ThresholdsModeAbsolute, Steps: []dashboard.Threshold{{Value: nil, Color: first}},
	}
	for _, limit := range limits {
		config.Steps = append(config.Steps, dashboard.Threshold{Value: new(limit.From), Color: limit.Colour})
	}
	return config
}

// noDataMapping turns NULL and NaN gray, with words instead of an empty place.
func noDataMapping() dashboard.ValueMapping {
	return dashboard.ValueMapping{SpecialValueMap: &dashboard.SpecialValueMap{
		Type: dashboard.MappingTypeSpecialValue,
		Options: dashboard.DashboardSpecialValueMapOptions{
			Match:  dashboard.SpecialValueMatchNullAndNan,
			Result: dashboard.ValueMappingResult{Text: new(noData), Color: new(Gray), Index: new(int32(0))},
		},
	}}
}

func valueMapping(named []Named) dashboard.ValueMapping {
	options := map[string]dashboard.ValueMappingResult{}
	for i, n := range named {
		options[n.Value] = dashboard.ValueMappingResult{
			Text: new(n.Text), Color: new(n.Colour), Index: new(int32(i + 1)),
		}
	}
	return dashboard.ValueMapping{ValueMap: &dashboard.ValueMap{Type: dashboard.MappingTypeValueToText, Options: options}}
}

// YesNo is for columns of 1 and 0.
func YesNo(yes, no string) []Named {
	return []Named{{"1", yes, Green}, {"0", no, Red}}
}

// Numbered names the numbers 1, 2, 3 ...: codes that stand for the texts in a query.
func Numbered(texts, colours []string) []Named {
	var named []Named
	for i, text := range texts {
		named = append(named, Named{strconv.Itoa(i + 1), text, colours[i%len(colours)]})
	}
	return named
}
