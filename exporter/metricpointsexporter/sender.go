package metricpointsexporter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/block"
	"github.com/pitwall-otel/pitwall/internal/clickhouse"
	"github.com/pitwall-otel/pitwall/internal/wal"
)

// sender moves ranges from the log to the table, one at a time.
type sender struct {
	exporter   *metricPoints
	table      *table
	letters    deadLetters
	builder    block.Builder
	compressor *block.Compressor // nil: blocks travel as they are
	body       []byte            // of the INSERT under way
	small      int               // ranges in a row that needed little of the memory that is held
}

func newSender(e *metricPoints, t *table, letters deadLetters) (*sender, error) {
	s := &sender{exporter: e, table: t, letters: letters}
	if compression := e.config.compression(); compression != block.None {
		compressor, err := block.NewCompressor(compression)
		if err != nil {
			return nil, err
		}
		s.compressor = compressor
	}
	return s, nil
}

func (s *sender) run(ctx context.Context) {
	s.prepare(ctx)
	for {
		r, err := s.next(ctx)
		if err != nil {
			return // shut down
		}
		o, err := s.deliver(ctx, r)
		if err != nil {
			return // shut down in the middle: the range comes again at the next start, with the same token
		}
		s.exporter.ledger.settle(r, o)
		s.relax()
	}
}

// next waits for a range. Where none comes for long, memory is given back meanwhile.
func (s *sender) next(ctx context.Context) (wal.Range, error) {
	soon, cancel := context.WithTimeout(ctx, idleTime)
	defer cancel()
	r, err := s.exporter.log.Next(soon)
	if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return r, err
	}
	if s.held() > idleBytes {
		s.giveBack()
	}
	return s.exporter.log.Next(ctx)
}

const (
	// idleTime is after how long without a range a sender needs no memory, idleBytes what it may hold all the same.
	idleTime  = 5 * time.Second
	idleBytes = 4 << 20
	// smallRanges are so many in a row that what a greater one needed is not worth holding.
	smallRanges = 8
)

// relax gives memory back when a flood is over: memory_limiter counts it, and would refuse points for the sake of it.
func (s *sender) relax() {
	if held := s.held(); held <= idleBytes || s.builder.Used()+len(s.body) > held/8 {
		s.small = 0
		return
	}
	if s.small++; s.small >= smallRanges {
		s.giveBack()
	}
}

func (s *sender) held() int { return s.builder.Held() + cap(s.body) }

func (s *sender) giveBack() { s.builder, s.body, s.small = block.Builder{}, nil, 0 }

// prepare makes the schema before there are points: contrib's exporter writes traces and logs into tables that our
// migrations make.
func (s *sender) prepare(ctx context.Context) {
	pause := s.pause()
	for {
		_, err := s.table.prepare(ctx)
		if err == nil {
			s.table.reporter.working()
			return
		}
		if ctx.Err() != nil {
			return
		}
		s.table.reporter.failed(err, clickhouse.Classify(err).String())
		if wait(ctx, pause) != nil {
			return
		}
	}
}

// deliver returns when every row of the range is stored or given up with a reason, or with an error when ctx ends.
func (s *sender) deliver(ctx context.Context, r wal.Range) (outcome, error) {
	o, err := s.read(ctx, r)
	if err != nil {
		return o, err
	}
	for i, rows := range s.builder.Sort() {
		token := r.Token() + "-" + strconv.Itoa(i)
		err := s.storeRows(ctx, rows, token, r.Recovered())
		switch {
		case err == nil:
			o.stored += len(rows)
		case ctx.Err() != nil:
			return o, ctx.Err()
		default:
			s.table.reporter.rejected(err, len(rows), s.keep(token, rows, err))
			o.rejected += len(rows)
		}
	}
	return o, nil
}

// storeRows stores a group of rows. Up to 26.7 at least, ClickHouse remembers a block's token a moment before it has the rows, and
// writes it to its disk apart from them. When it is killed, loses its power or has a full disk in between, it answers for the next
// attempt without storing anything, or stores rows again that it has. So where there was an attempt before, rows that are
// there do not go again; and afterwards they are looked for, and those that are not there go again under another token.
func (s *sender) storeRows(ctx context.Context, rows []uint32, token string, attempted bool) error {
	for {
		sent, again, err := s.store(ctx, rows, token, attempted)
		if err != nil || !again {
			return err
		}
		lost, err := s.lost(ctx, sent)
		if err != nil || len(lost) == 0 {
			return err
		}
		s.exporter.seldom.Warn("the table answered for points that it does not have; they go again under another token",
			zap.String("token", token), zap.Int("points", len(lost)))
		rows, token, attempted = lost, token+"-again", false
	}
}

// maxLooks is how often the table may fail to say what it has, before its answer to the INSERT is believed: where a part of
// it is damaged it takes points and gives none.
const maxLooks = 5

// lost waits for a server that is away, and for an earlier attempt that the server is still at: it knows that one's token
// already, and only what is not there after another 'timeout' will not come.
func (s *sender) lost(ctx context.Context, rows []uint32) ([]uint32, error) {
	pause, began := s.pause(), time.Now()
	for looks := 1; ; {
		lost, err := s.table.lost(ctx, &s.builder, rows)
		if err == nil && len(lost) > 0 && time.Since(began) < cmp.Or(s.exporter.config.ClientConfig.Timeout, time.Minute) {
			if err := wait(ctx, pause); err != nil {
				return nil, err
			}
			continue
		}
		if err == nil || ctx.Err() != nil {
			return lost, errors.Join(err, ctx.Err())
		}
		if _, answered := errors.AsType[*clickhouse.Error](err); answered {
			if looks++; looks > maxLooks {
				s.exporter.seldom.Warn("the table took points, and cannot say whether it has them", zap.Error(err))
				return nil, nil
			}
		}
		s.table.reporter.failed(err, clickhouse.Classify(err).String())
		if err := wait(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// encode writes the rows' block to s.body.
func (s *sender) encode(rows []uint32) error {
	s.body = s.body[:0]
	return s.builder.Encode(rows, func(piece []byte) (err error) {
		if s.compressor == nil {
			s.body = append(s.body, piece...)
			return nil
		}
		s.body, err = s.compressor.Append(s.body, piece)
		return err
	})
}

// keep makes a dead letter of a group of rows and returns where it lies, or why it was not kept.
func (s *sender) keep(token string, rows []uint32, reason error) string {
	var data []byte
	err := s.builder.Encode(rows, func(piece []byte) error {
		data = append(data, piece...)
		return nil
	})
	if err != nil {
		return fmt.Sprintf("not kept: %v", err)
	}
	return s.letters.keep(token, data, reason)
}

// read fills the builder. An error of the system, such as no free file descriptor, passes; damage does not and costs
// only the payloads it hit.
func (s *sender) read(ctx context.Context, r wal.Range) (outcome, error) {
	pause := s.pause()
	for {
		s.builder.Reset()
		unreadable := 0
		damaged, err := s.exporter.log.Read(r, func(payload []byte, rows int) error {
			if err := s.builder.Add(payload); err != nil {
				unreadable += rows
			}
			return nil
		})
		if err == nil {
			return outcome{damaged: damaged + unreadable}, nil
		}
		if errors.Is(err, wal.ErrClosed) {
			return outcome{}, err
		}
		s.table.reporter.failed(err, clickhouse.Retryable.String())
		if err := wait(ctx, pause); err != nil {
			return outcome{}, err
		}
	}
}

func (s *sender) pause() *backoff.ExponentialBackOff {
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval = s.exporter.config.Retry.InitialInterval
	pause.MaxInterval = s.exporter.config.Retry.MaxInterval
	return pause
}

func wait(ctx context.Context, pause *backoff.ExponentialBackOff) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause.NextBackOff()):
		return nil
	}
}

// store tries without end, the same rows under the same token, and returns only permanent errors. sent are the rows that
// the table did not have yet; again says that an attempt was made before the one that succeeded with them.
func (s *sender) store(ctx context.Context, rows []uint32, token string, attempted bool) (sent []uint32, again bool, err error) {
	pause := s.pause()
	view := false // a view behind the table failed, which wants rows that the table has
	for encoded := 0; ; attempted = true {
		start := time.Now()
		err = nil
		if attempted && !view {
			rows, err = s.missing(ctx, rows)
		}
		if err == nil && len(rows) != encoded {
			if err := s.encode(rows); err != nil {
				return nil, false, err
			}
			encoded = len(rows)
		}
		if err == nil && len(rows) > 0 {
			err = s.table.store(ctx, s.body, token)
		}
		if err == nil {
			s.exporter.telemetry.MetricpointsInsertDuration.Record(ctx, time.Since(start).Seconds(), s.exporter.self)
			s.table.reporter.working()
			return rows, attempted && len(rows) > 0, nil
		}
		if ctx.Err() != nil {
			return nil, false, errors.Join(err, ctx.Err())
		}
		answered, _ := errors.AsType[*clickhouse.Error](err)
		view = answered != nil && answered.View
		class := clickhouse.Classify(err)
		s.exporter.telemetry.MetricpointsInsertFailures.Add(ctx, 1, s.exporter.self, metric.WithAttributes(attribute.String("class", class.String())))
		if class == clickhouse.Permanent {
			return nil, false, err
		}
		s.table.reporter.failed(err, class.String())
		if err := wait(ctx, pause); err != nil {
			return nil, false, err
		}
	}
}

// missing returns the rows that the table does not have. All of them, when it answers and cannot say: then the token must do.
func (s *sender) missing(ctx context.Context, rows []uint32) ([]uint32, error) {
	missing, err := s.table.missing(ctx, &s.builder, rows)
	if err == nil {
		return missing, nil
	}
	if answered, ok := errors.AsType[*clickhouse.Error](err); ok && (answered.Code != 0 || clickhouse.Classify(err) != clickhouse.Retryable) {
		return rows, nil
	}
	return rows, err
}
