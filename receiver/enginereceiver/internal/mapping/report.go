package mapping

// Report is what one call of [Target.Map] found, for the receiver's telemetry. Its slices are the target's and good until
// the next call.
type Report struct {
	// Samples are sample lines, Series those among them that became part of a point or say when its count began, Points what
	// went out.
	Samples, Series, Points int
	// Dropped are the other lines, by reason: Samples is Series and all of Dropped.
	Dropped [reasons]int
	// Resets are points whose count began anew, Restarts engines that did so as a whole.
	Resets, Restarts int
	// Unknown are families that passed under their own name.
	Unknown int
	// Expected is how many metrics an engine or router of this kind always has, Missing those that are not there. Both are
	// empty when nothing on the page is known.
	Expected int
	Missing  []string
	// Provider is sglang, vllm or, for a page with nothing but a router's own families, sglang-router.
	Provider string
	// Workers are the addresses (host:port) of the engines on the page, Vanished those that were there and are not.
	Workers, Vanished []string
}

// Reason says why a line that could be read did not become part of a point.
type Reason uint8

// Reasons of dropped lines.
const (
	kept          Reason = iota
	DropDenied           // not allowed, or denied
	DropRuntime          // python_*, process_*
	DropInfo             // families whose labels are their content, such as *_info
	DropCreated          // start times of what has no point
	DropType             // another TYPE than the registry knows under this name
	DropLabel            // a value of a label that repeats others, such as a total
	DropRank             // another rank that says the same
	DropPriority         // a priority class whose total is there
	DropDuplicate        // the same series again; the last one counts
	DropRepeated         // the same under another name
	DropNaN
	DropInfinite
	DropNegative   // -1 for "none"
	DropHistogram  // histograms without their end, or with buckets that shrink
	DropMaxSeries  // over MaxSeries
	DropMaxUnknown // over MaxUnknown
	DropMaxWorkers // over MaxWorkers
	reasons
)

// Reasons are all reasons, for whoever goes through Report.Dropped.
func Reasons() []Reason {
	var all []Reason
	for r := DropDenied; r < reasons; r++ {
		all = append(all, r)
	}
	return all
}

// String is the reason as an attribute's value.
func (r Reason) String() string {
	return [...]string{
		"kept", "denied", "runtime", "info", "created", "wrong_type", "label_total", "rank", "priority", "duplicate", "repeated",
		"nan", "infinite", "negative", "histogram", "series_limit", "unknown_limit", "worker_limit",
	}[r]
}
