package metricpointsexporter

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

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
		r, err := s.exporter.log.Next(ctx)
		if err != nil {
			return // shut down
		}
		o, err := s.deliver(ctx, r)
		if err != nil {
			return // shut down in the middle: the range comes again at the next start, with the same token
		}
		s.exporter.ledger.settle(r, o)
	}
}

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
		data, err := s.storeRows(ctx, rows, token)
		switch {
		case err == nil:
			o.stored += len(rows)
		case ctx.Err() != nil:
			return o, ctx.Err()
		default:
			s.table.reporter.rejected(err, len(rows), s.letters.keep(token, data, err))
			o.rejected += len(rows)
		}
	}
	return o, nil
}

// storeRows encodes a group of rows and stores it. The block is returned for the case that it is rejected.
func (s *sender) storeRows(ctx context.Context, rows []uint32, token string) (data []byte, err error) {
	if data, err = s.builder.Encode(rows); err != nil {
		return nil, err
	}
	body := data
	if s.compressor != nil {
		if body, err = s.compressor.Compress(data); err != nil {
			return data, err
		}
	}
	return data, s.store(ctx, body, token)
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

// store tries without end, always the same bytes under the same token, and returns only permanent errors.
func (s *sender) store(ctx context.Context, body []byte, token string) error {
	pause := s.pause()
	for {
		start := time.Now()
		err := s.table.store(ctx, body, token)
		if err == nil {
			s.exporter.telemetry.MetricpointsInsertDuration.Record(ctx, time.Since(start).Seconds(), s.exporter.self)
			s.table.reporter.working()
			return nil
		}
		if ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		class := clickhouse.Classify(err)
		s.exporter.telemetry.MetricpointsInsertFailures.Add(ctx, 1, s.exporter.self, metric.WithAttributes(attribute.String("class", class.String())))
		if class == clickhouse.Permanent {
			return err
		}
		s.table.reporter.failed(err, class.String())
		if err := wait(ctx, pause); err != nil {
			return err
		}
	}
}
