package points

import (
	"math"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// NoDevice is the device column's value for rows that belong to no device.
const NoDevice = math.MaxUint16

// column is a column of metric_points that attributes can set.
type column uint8

const (
	columnRun column = iota
	columnHost
	columnRank
	columnDevice
	columnStep
	columns
	columnNone = columns
)

// columnOf returns the column that an attribute sets and the precedence of its name (0 before 1) among the aliases.
func columnOf(key string) (column, uint8) {
	// By length first: nearly every other attribute is told apart without comparing a byte.
	switch len(key) {
	case 3:
		if key == "gpu" {
			return columnDevice, 1
		}
	case 4:
		if key == "step" {
			return columnStep, 1
		}
		if key == "rank" {
			return columnRank, 3
		}
	case 6:
		if key == "run_id" {
			return columnRun, 1
		}
	case 7:
		if key == "rl.step" {
			return columnStep, 0
		}
		if key == "rl.rank" {
			return columnRank, 1
		}
		if key == "dl.rank" {
			return columnRank, 2
		}
	case 9:
		if key == "rl.run.id" {
			return columnRun, 0
		}
		if key == "host.name" {
			return columnHost, 0
		}
	case 11:
		if key == "global_step" {
			return columnStep, 2
		}
	case 12:
		if key == "wandb.run.id" {
			return columnRun, 2
		}
	case 14:
		if key == "rl.rank.global" {
			return columnRank, 0
		}
	case 15:
		if key == "rl.device.index" {
			return columnDevice, 0
		}
	}
	return columnNone, 0
}

// identity is what the columns of a row say about its origin.
type identity struct {
	run, host *symbol
	rank      uint32
	device    uint16
	step      uint64
}

// attribute is one attribute of the level being read. taken ones became a column or part of a name and make no tag.
type attribute struct {
	key   string
	value pcommon.Value
	taken bool
}

// readAttributes collects a level's attributes and applies those that are columns over the outer level's identity.
func (e *Encoder) readAttributes(attributes pcommon.Map, outer identity) identity {
	e.attributes = e.attributes[:0]
	if attributes.Len() == 0 {
		return outer
	}
	var best [columns]struct {
		index      int
		precedence uint8
		found      bool
	}
	anyColumn := false
	for key, value := range attributes.All() {
		c, precedence := columnOf(key)
		if c != columnNone && (!best[c].found || precedence < best[c].precedence) {
			best[c].index, best[c].precedence, best[c].found = len(e.attributes), precedence, true
			anyColumn = true
		}
		e.attributes = append(e.attributes, attribute{key: key, value: value})
	}
	if !anyColumn {
		return outer
	}
	for c := range best {
		if best[c].found {
			a := &e.attributes[best[c].index]
			a.taken = e.setColumn(&outer, column(c), a.value)
		}
	}
	return outer
}

// setColumn reports whether the value fits the column; one that does not stays a tag, so nothing is lost.
func (e *Encoder) setColumn(id *identity, c column, value pcommon.Value) bool {
	switch c {
	case columnRun, columnHost:
		text := value.AsString()
		if text == "" {
			return false
		}
		if c == columnRun {
			id.run = e.symbol(text)
		} else {
			id.host = e.symbol(text)
		}
		return true
	case columnRank:
		n, ok := unsigned(value, math.MaxUint32)
		if ok {
			id.rank = uint32(n)
		}
		return ok
	case columnDevice:
		n, ok := unsigned(value, math.MaxUint16)
		if ok {
			id.device = uint16(n)
		}
		return ok
	default:
		n, ok := unsigned(value, math.MaxUint64)
		if ok {
			id.step = n
		}
		return ok
	}
}

// unsigned reads a whole number; producers send ranks and steps as integers, as floats and as digits.
func unsigned(value pcommon.Value, limit uint64) (uint64, bool) {
	switch value.Type() {
	case pcommon.ValueTypeInt:
		n := value.Int()
		return uint64(n), n >= 0 && uint64(n) <= limit
	case pcommon.ValueTypeDouble:
		f := value.Double()
		if f < 0 || f >= 1<<63 || f != math.Trunc(f) || math.IsNaN(f) {
			return 0, false
		}
		return uint64(f), uint64(f) <= limit
	case pcommon.ValueTypeStr:
		n, err := strconv.ParseUint(value.Str(), 10, 64)
		return n, err == nil && n <= limit
	default:
		return 0, false
	}
}
