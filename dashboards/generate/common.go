package main

import (
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"

	"github.com/pitwall-otel/pitwall/dashboards/internal/board"
	"github.com/pitwall-otel/pitwall/dashboards/internal/query"
	"github.com/pitwall-otel/pitwall/schema/names"
)

// Variables that several dashboards have, under the same names, so that links carry them over.

func runs() dashboard.VariableModel { return board.Choice("run_id", "Run", query.Runs()) }

func attempts() dashboard.VariableModel {
	return board.Switch("attempt", "Attempts", "latest wins", "latest", "all", "all")
}

// hosts are the machines of the chosen runs, or all.
func hosts() dashboard.VariableModel {
	return board.WithAll(board.Choice("host", "Host", query.Hosts(query.Is(names.TableSysCPUPercent), query.HostsOfRuns())))
}

func onePerRun(title, about, unit string, curve query.Curve) *board.Panel {
	return board.Number(board.Text{Title: title, About: about, Unit: unit}, curve.Last()).Size(8, 4)
}

// curve is a metric of training: drawn over steps and, in a folded row, over time.
type curve struct {
	title, about, unit string
	of                 query.Curve
	look               func(*board.Panel) *board.Panel
}

func curves(b *board.Board, title string, all ...curve) {
	var steps, times []*board.Panel
	for _, c := range all {
		look := c.look
		if look == nil {
			look = func(p *board.Panel) *board.Panel { return p }
		}
		text := board.Text{Title: c.title, About: c.about, Unit: c.unit}
		steps = append(steps, look(board.OverSteps(text, c.of.OverSteps()).ByName()))
		times = append(times, look(board.OverTime(text, c.of.OverTime()).ByName()))
	}
	b.Row(title+", by step", steps...)
	b.Folded(title+", by time", times...)
}

func log(p *board.Panel) *board.Panel          { return p.Log() }
func share(p *board.Panel) *board.Panel        { return p.Range(0, 1) }
func fromZero(p *board.Panel) *board.Panel     { return p.FromZero() }
func phased(p *board.Panel) *board.Panel       { return p.FromZero().Phases(phases()) }
func wide(p *board.Panel) *board.Panel         { return p.Size(24, 8) }
func wideDots(p *board.Panel) *board.Panel     { return p.Dots().Size(24, 8) }
func dotsFromZero(p *board.Panel) *board.Panel { return p.Dots().FromZero() }
func dots(p *board.Panel) *board.Panel         { return p.Dots() }

// toRun opens a dashboard for the run in a table's row, whose hidden column run_value is the variable's value.
func toRun(name string) string {
	return "/d/pitwall-" + name + "?var-run_id=${__data.fields.run_value:percentencode}&${__url_time_range}"
}

// events marks what happened to the runs.
func events(b *board.Board) {
	b.Annotate("Events of the run", "orange", query.Text(`
SELECT
    event_time AS time,
    concat(run_id, ': ', event, if(step > 0, concat(' at step ', toString(step)), ''), ' ', attributes['error.message']) AS text,
    event AS tags
FROM training_observability.run_events
WHERE {runs} AND {time} AND event IN ({events})
ORDER BY time
LIMIT 1000`,
		"runs", query.OfRuns(), "time", query.InTime, "events", quoted(
			names.EventRLRunStarted, names.EventRLRunResumed, names.EventRLRunFinished, names.EventRLNonfinite,
			names.EventRLStall, names.EventRLError)))
}

func quoted(texts ...string) string {
	var out strings.Builder
	for i, text := range texts {
		if i > 0 {
			out.WriteString(", ")
		}
		out.WriteString(query.Quote(text))
	}
	return out.String()
}
