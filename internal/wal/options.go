package wal

import (
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
)

// Options of a log. Zero values take the defaults named here.
type Options struct {
	Dir          string        // made with mode 0700 if absent; one process at a time
	SegmentBytes int64         // a new segment file is begun at about this size; 64 MiB, at most an eighth of MaxBytes
	MaxBytes     int64         // size of all segment files above which Append is refused, without up to 4 damaged ones set aside; 8 GiB
	MinFreeBytes int64         // free bytes of the file system below which Append is refused; never less than 1 MiB
	CutRows      int           // rows that make a range; 50,000
	CutInterval  time.Duration // age at which fewer rows make a range, if no other waits; 1 s
	Logger       *zap.Logger   // nil: silent

	// Kept, if set, is told of every payload that is on disk: before its Append returns, and once more at Open if it is
	// in a segment that Open reads. The payload is not the callee's to keep; nil stands for what Open could not read.
	Kept func(payload []byte)
	// Sealing, if set, is called before a new segment is begun. Open will not read those before it again (unless the
	// new one is damaged), so what Kept was told has to be on disk elsewhere when it returns, or in what it returns: that
	// stands in the new segment's header, and the next Open begins by handing it to Carried. It must be much smaller
	// than a segment; Carried is told nil instead of what no record holds.
	Sealing func() (carried []byte)
	Carried func(carried []byte)
	// None of these is called concurrently with itself or another.
}

const (
	defaultSegmentBytes = 64 << 20
	defaultMaxBytes     = 8 << 30
	defaultCutRows      = 50_000
	defaultCutInterval  = time.Second

	// minFree leaves room for marks and a new segment's snapshot, without which
	// a full log could not drain.
	minFree = 1 << 20
	// minMaxBytes is the least in which segments can come and go.
	minMaxBytes = 64 << 10
)

func (o Options) withDefaults() (Options, error) {
	if o.Dir == "" {
		return o, errors.New("log directory is empty")
	}
	if o.MaxBytes < 0 || o.SegmentBytes < 0 || o.MinFreeBytes < 0 || o.CutRows < 0 || o.CutInterval < 0 {
		return o, fmt.Errorf("log %s: sizes and times must not be negative", o.Dir)
	}
	o.MaxBytes = orDefault(o.MaxBytes, defaultMaxBytes)
	if o.MaxBytes < minMaxBytes {
		return o, fmt.Errorf("log %s: a size of %d bytes is less than the least, %d", o.Dir, o.MaxBytes, minMaxBytes)
	}
	// Whole segments are deleted: with few of them a full log would stay full for long.
	o.SegmentBytes = min(orDefault(o.SegmentBytes, defaultSegmentBytes), o.MaxBytes/8)
	o.MinFreeBytes = max(o.MinFreeBytes, minFree)
	o.CutRows = orDefault(o.CutRows, defaultCutRows)
	o.CutInterval = orDefault(o.CutInterval, defaultCutInterval)
	if o.Logger == nil {
		o.Logger = zap.NewNop()
	}
	return o, nil
}

func orDefault[T int | int64 | time.Duration](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}
