package wal

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"github.com/pitwall-otel/pitwall/internal/seldom"
)

var (
	// ErrFull: the log's size or the disk's free space is at its limit. The
	// caller should try again later; nothing was stored.
	ErrFull = errors.New("write-ahead log is full")
	// ErrTooLarge: the payload can never be stored.
	ErrTooLarge = errors.New("payload too large for the write-ahead log")
	// ErrClosed is returned by every method of a closed log.
	ErrClosed = errors.New("write-ahead log is closed")
)

// Log is an open write-ahead log. Its methods may be called concurrently.
type Log struct {
	opts Options
	log  *zap.Logger // at most one line a minute per message
	dir  *os.File    // holds the lock
	id   logID

	wake    chan struct{} // the committer has something to do
	ready   chan struct{} // a range can be taken
	stop    chan struct{}
	stopped chan struct{}

	waiters  sync.Pool
	scanners sync.Pool

	mu       sync.Mutex
	closed   bool
	queue    []*waiter
	room     chan struct{} // closed when the queue got shorter; nil while no one waits
	queued   int64         // bytes in queue
	pending  int64         // bytes in queue and in the group being written
	refused  bool          // an Append was refused for want of space
	marks    []bounds      // done, mark not written yet
	live     []*span       // cut and not done, oldest first; done ones leave from the front
	handed   int           // how many at the front of live are handed out or done
	uncut    []*span       // at most one while there is an active segment, and in it
	uncutAt  time.Time     // when the oldest of uncut arrived in this process
	segments []*segment    // ascending
	disk     int64         // bytes of all segments
	header   int64         // bytes of the newest one's
	space    space
	stats    Stats

	// Only the committer's from here on.
	active  *segment // nil while none can be made
	next    uint64   // number of the next segment
	retryAt time.Time
	openErr error // why there is no active segment
	batch   batch
	buf     []byte // what is being written
	cuts    []span // that it makes
	tail    span   // that it leaves uncut
}

// span is a run of data records: a range, or what will become one.
type span struct {
	seg     *segment
	start   int64
	end     int64
	rows    int64
	sec     uint32 // when its first record was appended
	done    bool
	damaged int // rows that could not be read
	// recovered says that it was there at Open.
	recovered bool
}

func (s *span) bounds() bounds { return bounds{s.seg.number, s.start, s.end} }

// Open opens or creates the log in opts.Dir. Damage and a full disk are not
// errors: what can be read is delivered, and writing begins when there is room.
func Open(opts Options) (*Log, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	l := &Log{
		opts:    opts,
		wake:    make(chan struct{}, 1),
		ready:   make(chan struct{}, 1),
		stop:    make(chan struct{}),
		stopped: make(chan struct{}),
	}
	l.log = seldom.Logger(opts.Logger)
	l.waiters.New = func() any { return &waiter{done: make(chan error, 1)} }
	l.scanners.New = func() any { return &scanner{} }
	if l.dir, err = lockDir(opts.Dir); err != nil {
		return nil, err
	}
	if err = l.begin(); err != nil {
		return nil, errors.Join(fmt.Errorf("open log %s: %w", opts.Dir, err), l.closeFiles())
	}
	go l.run()
	return l, nil
}

// begin recovers what is there and starts a segment of this opening.
func (l *Log) begin() error {
	if err := l.recover(); err != nil {
		return err
	}
	l.stats.RecoveredRows = l.stats.Rows
	emptied := l.emptySegments()
	err := l.openSegment()
	switch {
	case err == nil:
		for _, seg := range emptied {
			l.drop(seg)
		}
	case isSpace(err) || isIO(err):
		l.log.Warn("cannot begin a log segment, will try again", zap.String("directory", l.opts.Dir), zap.Error(err))
	default:
		return err
	}
	l.notifyReady()
	return nil
}

// ID names the log in tokens; 32 hex digits, made when the log was created.
func (l *Log) ID() string { return l.id.String() }

// Close writes what is queued, stops the committer and closes the files. Ranges
// that are not done come again at the next Open.
func (l *Log) Close() error {
	l.mu.Lock()
	first := !l.closed
	l.closed = true
	l.mu.Unlock()
	if !first {
		<-l.stopped
		return nil
	}
	close(l.stop)
	<-l.stopped
	return l.closeFiles()
}

func (l *Log) closeFiles() error {
	var errs []error
	l.mu.Lock()
	for _, seg := range l.segments {
		errs = append(errs, seg.close())
	}
	l.mu.Unlock()
	// Not left to closing: a process being forked meanwhile would keep the lock.
	errs = append(errs, unix.Flock(int(l.dir.Fd()), unix.LOCK_UN), l.dir.Close())
	return errors.Join(errs...)
}

// Stats is what the log holds and what happened to it since Open.
type Stats struct {
	Rows          int64         // not done: cut or uncut
	Bytes         int64         // of those rows on disk
	Ranges        int           // cut and not done
	OldestAge     time.Duration // since the oldest of those rows was appended, in whole seconds; 0 if none
	DiskBytes     int64         // of all segments
	Segments      int
	FreeBytes     int64 // of the file system, as far as known
	AppendedRows  int64 // since Open
	RecoveredRows int64 // found at Open
	DamagedRows   int64 // acknowledged, and unreadable now, or without a log to belong to; a lost header in uncut rows hides their number
	SetAside      int64 // damaged segments moved to the corrupt folder
}

// Stats is cheap enough for every scrape.
func (l *Log) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	s := l.stats
	s.DiskBytes, s.Segments = l.disk, len(l.segments)
	s.FreeBytes = l.space.free(l.dir, now)
	oldest := l.uncut
	if len(l.live) > 0 {
		oldest = l.live
	}
	if len(oldest) > 0 {
		s.OldestAge = max(0, time.Duration(now.Unix()-int64(oldest[0].sec))*time.Second)
	}
	return s
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
