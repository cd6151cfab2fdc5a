package alerts

import "time"

// Rule is one alert rule.
type Rule struct {
	// UID never changes once released: silences and links name it.
	UID, Title string
	Severity   Severity
	// Window is how far back the query looks, For how long the condition must hold.
	Window, For time.Duration
	// SQL answers a time, labels and a number: how bad it is, by label.
	SQL string
	// Fires says which numbers are bad.
	Fires Condition
	// Summary is one line for a pager; it may use labels as {{ $labels.host }}.
	Summary string
	// Do says what to look at first.
	Do string
	// Dashboard is the uid of the dashboard that shows it, Panel the title of the panel.
	Dashboard, Panel string
	// PanelID is that panel's, which the generator looks up.
	PanelID uint32
}

// Condition compares a number with a threshold, in Grafana's words: "gt" for greater, "lt" for less.
type Condition struct {
	Evaluator string
	Threshold float64
}

// Severity is the label by which notifications are routed.
type Severity string

const (
	// Critical costs GPU-hours now.
	Critical Severity = "critical"
	// Warning will, if nobody looks.
	Warning Severity = "warning"
)
