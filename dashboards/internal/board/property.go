package board

import "github.com/grafana/grafana-foundation-sdk/go/dashboard"

// Property is one setting of a column.
type Property = dashboard.DynamicConfigValue

// Unit of the column, as Grafana calls it.
func Unit(unit string) Property { return Property{Id: "unit", Value: unit} }

// Digits is the number of decimals of the column.
func Digits(n int) Property { return Property{Id: "decimals", Value: n} }

// Width of the column in pixels.
func Width(pixels int) Property { return Property{Id: "custom.width", Value: pixels} }

// Hidden keeps a column out of sight; links may use it.
func Hidden() Property { return Property{Id: "custom.hidden", Value: true} }

// Linked makes the column's values links.
func Linked(title, url string) Property {
	return Property{Id: "links", Value: []dashboard.DashboardLink{link(title, url)}}
}

// Named values get a text and a colour; what is missing stays gray.
func Mapped(named ...Named) Property {
	return Property{Id: "mappings", Value: []dashboard.ValueMapping{valueMapping(named), noDataMapping()}}
}

// Coloured fills the cells of the column by limits.
func Coloured(first string, limits ...Limit) []Property {
	return append(Filled(), Property{Id: "thresholds", Value: thresholds(first, limits)},
		Property{Id: "color", Value: map[string]string{"mode": "thresholds"}})
}

// Fixed is the colour of a line.
func Fixed(colour string) Property {
	return Property{Id: "color", Value: map[string]string{"mode": "fixed", "fixedColor": colour}}
}

// Filled fills the cells with their colour.
func Filled() []Property {
	return []Property{{Id: "custom.cellOptions", Value: map[string]string{"type": "color-background", "mode": "basic"}}}
}

// Bar draws a bar in the cells of the column, from least to most.
func Bar(least, most float64) []Property {
	return []Property{gauge(), {Id: "min", Value: least}, {Id: "max", Value: most}}
}

// OwnBar draws a bar in the cells of the column, over the column's own range.
func OwnBar() []Property { return []Property{gauge(), {Id: "fieldMinMax", Value: true}} }

func gauge() Property {
	return Property{Id: "custom.cellOptions", Value: map[string]string{"type": "gauge", "mode": "basic"}}
}
