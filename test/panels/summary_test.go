package panels

import (
	"fmt"
	"slices"
	"strings"

	"github.com/grafana/grafana-plugin-sdk-go/data"
)

// cells counts the cells that show something: all that are neither null nor the time of a row.
func cells(frames data.Frames) int {
	count := 0
	for _, frame := range frames {
		for _, field := range frame.Fields {
			if field.Type().Time() && frame.Meta != nil && frame.Meta.PreferredVisualization == data.VisTypeGraph {
				continue
			}
			for i := range field.Len() {
				if _, ok := field.ConcreteAt(i); ok {
					count++
				}
			}
		}
	}
	return count
}

// columns says what a panel's frames consist of: names, types and labels, without values and without their number.
func columns(frames data.Frames) string {
	var kinds []string
	for _, frame := range frames {
		for _, field := range frame.Fields {
			kind := field.Name + " " + field.Type().ItemTypeString()
			if len(field.Labels) > 0 {
				kind += fmt.Sprintf("{%s}", strings.Join(slices.Sorted(keys(field.Labels)), ","))
			}
			if !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
	}
	return strings.Join(kinds, ", ")
}

func keys(labels data.Labels) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for key := range labels {
			if !yield(key) {
				return
			}
		}
	}
}

// values are a frame's cells as text, time left out, in order of rows: what two looks at the same data have in common.
func values(frames data.Frames) []string {
	var rows []string
	for _, frame := range frames {
		for row := range frame.Rows() {
			var texts []string
			for _, field := range frame.Fields {
				if field.Type().Time() {
					continue
				}
				value, ok := field.ConcreteAt(row)
				if !ok {
					value = "null"
				}
				texts = append(texts, fmt.Sprint(value))
			}
			rows = append(rows, strings.Join(texts, " | "))
		}
	}
	return rows
}
