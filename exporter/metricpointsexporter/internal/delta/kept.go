package delta

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// snapshotVersion is the first byte of a snapshot.
const snapshotVersion = 1

// overheadBytes is what a series takes beside its value, in memory and, less, on disk.
const overheadBytes = 96

func (c *Converter) state(key Key) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.series[key]
	return r.value, ok
}

func (c *Converter) limits() (since, forgotten uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.since, c.forgotten
}

// put takes over state.
func (c *Converter) put(key Key, state []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set(key, state)
	if c.bytes > c.opts.MaxBytes {
		c.evict()
	}
}

// set is put without a limit. c.mu is held.
func (c *Converter) set(key Key, state []byte) {
	if old, ok := c.series[key]; ok {
		c.bytes -= len(old.value) + overheadBytes
	}
	c.series[key] = remembered{value: state, seen: c.opts.Elapsed()}
	c.bytes += len(state) + overheadBytes
}

// Keep takes the states of a request that is on disk, written under that version of the schema. States of a damaged
// request leave out what cannot be read.
func (c *Converter) Keep(schema string, states []byte) {
	if schema != c.opts.Schema {
		c.mu.Lock()
		defer c.mu.Unlock()
		eachState(states, func(_ Key, state []byte) { c.forgot(state) })
		return
	}
	eachState(states, c.put)
}

// eachState reports whether all could be read.
func eachState(states []byte, yield func(Key, []byte)) bool {
	r := reader{data: states}
	for len(r.data) > 0 {
		key := r.take(uint64(len(Key{})))
		state := r.take(r.uvarint())
		if r.bad {
			return false
		}
		yield(Key(key), slices.Clone(state))
	}
	return !r.bad
}

// Forget is for when something that was kept may be missing: from then on only what begins later is counted from its
// start.
func (c *Converter) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropAll()
	c.forgotAt(uint64(c.opts.Now().UnixNano()))
}

func (c *Converter) dropAll() {
	for key, r := range c.series {
		c.drop(key, r)
	}
}

// evict makes room for a quarter of what may be remembered. c.mu is held.
func (c *Converter) evict() {
	type aged struct {
		key Key
		remembered
	}
	all := make([]aged, 0, len(c.series))
	for key, r := range c.series {
		all = append(all, aged{key, r})
	}
	slices.SortFunc(all, func(a, b aged) int { return cmp.Compare(a.seen, b.seen) })
	for _, a := range all {
		if c.bytes <= c.opts.MaxBytes/4*3 {
			return
		}
		c.drop(a.key, a.remembered)
	}
}

// drop takes a series out. If it was counted whole, it began before its last value, by a clock that was not far ahead. c.mu
// is held.
func (c *Converter) drop(key Key, r remembered) {
	delete(c.series, key)
	c.bytes -= len(r.value) + overheadBytes
	c.forgot(r.value)
}

// forgot is told of what is not, or no more, in series. c.mu is held.
func (c *Converter) forgot(state []byte) {
	if v, err := parseValue(state); err == nil {
		c.forgotAt(min(v.at, uint64(c.opts.Now().UnixNano())+mostAhead))
	}
}

func (c *Converter) forgotAt(at uint64) {
	c.since, c.forgotten = max(c.since, at+1), max(c.forgotten, at)
}

// Snapshot is everything known, for Restore, less what was silent for too long.
func (c *Converter) Snapshot() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.opts.Elapsed()
	for key, r := range c.series {
		if now-r.seen > c.opts.MaxStaleness {
			c.drop(key, r)
		}
	}
	b := make([]byte, 0, c.bytes+64)
	b = append(b, snapshotVersion)
	b = binary.AppendUvarint(b, uint64(len(c.opts.Schema)))
	b = append(b, c.opts.Schema...)
	b = binary.LittleEndian.AppendUint64(b, c.since)
	b = binary.LittleEndian.AppendUint64(b, c.forgotten)
	for key, r := range c.series {
		b = append(b, key[:]...)
		b = binary.AppendUvarint(b, uint64(len(r.value)))
		b = append(b, r.value...)
	}
	return b
}

// Restore begins with a snapshot. Of one of another schema no more remains than how new its values were; one that cannot be
// used leaves nothing known.
func (c *Converter) Restore(snapshot []byte) {
	r := reader{data: snapshot}
	version := r.take(1)
	schema := r.take(r.uvarint())
	since, forgotten := r.fixed(), r.fixed()
	if r.bad || version[0] != snapshotVersion || !c.load(r.data, since, forgotten) {
		c.Forget()
		return
	}
	if string(schema) != c.opts.Schema {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.dropAll()
	}
}

func (c *Converter) load(states []byte, since, forgotten uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since, c.forgotten = since, forgotten
	ok := eachState(states, c.set)
	if c.bytes > c.opts.MaxBytes {
		c.evict()
	}
	return ok
}
