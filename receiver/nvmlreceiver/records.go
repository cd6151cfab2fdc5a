package nvmlreceiver

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.uber.org/zap"
)

const (
	// perMinute is how many records of one event about one thing may come in a minute: a program that fails over and over
	// makes the same Xid a thousand times.
	perMinute = 10
	// maxKinds bounds how many things are told apart in a minute.
	maxKinds = 4096
	// maxWaiting is how many records wait for a pipeline that does not take them.
	maxWaiting = 1024
	// retryAfter is how long to wait after a pipeline refused a record, and retries how often to try.
	retryAfter = time.Second
	retries    = 60
)

// recordQueue hands log records to a pipeline from a goroutine of its own: a pipeline that is slow does not hold up a
// collection.
type recordQueue struct {
	next    consumer.Logs
	log     *zap.Logger
	limit   int
	waiting chan plog.Logs
	dropped atomic.Int64

	mu     sync.Mutex
	minute time.Time
	total  int
	kinds  map[string]int
}

func newRecordQueue(next consumer.Logs, limit int, log *zap.Logger) *recordQueue {
	return &recordQueue{next: next, log: log, limit: limit, waiting: make(chan plog.Logs, maxWaiting), kinds: map[string]int{}}
}

// admit says whether another record about what may come in this minute, and counts it.
func (q *recordQueue) admit(now time.Time, what string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if now.Sub(q.minute) >= time.Minute || now.Before(q.minute) {
		q.minute, q.total = now, 0
		clear(q.kinds)
	}
	if q.total >= q.limit || q.kinds[what] >= perMinute || len(q.kinds) >= maxKinds {
		q.dropped.Add(1)
		return false
	}
	q.total++
	q.kinds[what]++
	return true
}

func (q *recordQueue) push(logs plog.Logs) {
	select {
	case q.waiting <- logs:
	default:
		q.dropped.Add(1)
	}
}

// run ends with ctx, after it has handed on what waits then.
func (q *recordQueue) run(ctx context.Context) {
	for {
		select {
		case logs := <-q.waiting:
			q.hand(ctx, logs)
		case <-ctx.Done():
			for {
				select {
				case logs := <-q.waiting:
					q.hand(ctx, logs)
				default:
					return
				}
			}
		}
	}
}

// hand tries until the pipeline takes the record, or says that it never will.
func (q *recordQueue) hand(ctx context.Context, logs plog.Logs) {
	for range retries {
		copied := plog.NewLogs()
		logs.CopyTo(copied)
		// A pipeline may still be running when the receiver stops, so the last records do not go with its context.
		err := q.next.ConsumeLogs(context.WithoutCancel(ctx), copied)
		if err == nil {
			return
		}
		if consumererror.IsPermanent(err) || ctx.Err() != nil {
			q.log.Warn("an event was refused for good", zap.Error(err))
			break
		}
		select {
		case <-time.After(retryAfter):
		case <-ctx.Done():
		}
	}
	q.dropped.Add(1)
}
