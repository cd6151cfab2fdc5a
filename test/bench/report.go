package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// report collects figures per contender and prints their medians as a Markdown table.
type report struct {
	title   string
	names   []string
	figures map[string]map[string][]float64 // contender → figure → one value a round
}

func newReport(title string) *report {
	return &report{title: title, figures: map[string]map[string][]float64{}}
}

func (r *report) add(name string, figures map[string]float64) {
	if r.figures[name] == nil {
		r.names = append(r.names, name)
		r.figures[name] = map[string][]float64{}
	}
	for figure, value := range figures {
		r.figures[name][figure] = append(r.figures[name][figure], value)
	}
}

// print writes a row per contender, median (least–greatest), and the ratio of the last contender to the first.
func (r *report) print(w io.Writer) {
	first, last := r.names[0], r.names[len(r.names)-1]
	columns := slices.Sorted(maps.Keys(r.figures[first]))
	fmt.Fprintf(w, "\n%s, median of %d (least–greatest):\n\n", r.title, len(r.figures[first][columns[0]]))
	fmt.Fprintf(w, "| | %s |\n|---%s|\n", strings.Join(columns, " | "), strings.Repeat("|---", len(columns)))
	for _, name := range r.names {
		fmt.Fprintf(w, "| %s |", name)
		for _, column := range columns {
			values := slices.Sorted(slices.Values(r.figures[name][column]))
			fmt.Fprintf(w, " %s (%s–%s) |", number(median(values)), number(values[0]), number(values[len(values)-1]))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "| %s ÷ %s, by round |", last, first)
	for _, column := range columns {
		var ratios []float64
		for i, value := range r.figures[first][column] {
			ratios = append(ratios, r.figures[last][column][i]/value)
		}
		slices.Sort(ratios)
		fmt.Fprintf(w, " %s× |", number(median(ratios)))
	}
	fmt.Fprintln(w)
}

func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func number(f float64) string {
	switch {
	case f >= 100:
		return fmt.Sprintf("%.0f", f)
	case f >= 1:
		return fmt.Sprintf("%.1f", f)
	default:
		return fmt.Sprintf("%.4f", f)
	}
}
