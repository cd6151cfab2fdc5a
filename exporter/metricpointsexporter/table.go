package metricpointsexporter

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/block"
	"github.com/pitwall-otel/pitwall/internal/clickhouse"
)

// table is metric_points on the server, prepared on first use and again after every error that a changed schema can
// cause. All senders share it.
type table struct {
	client   *clickhouse.Client
	target   clickhouse.Target
	migrate  bool
	insert   string
	framed   bool
	reporter *reporter

	mu    sync.Mutex
	ready bool
	info  clickhouse.TableInfo
}

func newTable(client *clickhouse.Client, config *Config, r *reporter) *table {
	target := config.target()
	return &table{
		client:   client,
		target:   target,
		migrate:  config.CreateSchema,
		insert:   fmt.Sprintf("INSERT INTO %s (%s) FORMAT Native", target.Ident(target.Table), block.Columns),
		framed:   config.compression() != block.None,
		reporter: r,
	}
}

// prepare makes and checks the table once.
func (t *table) prepare(ctx context.Context) (clickhouse.TableInfo, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ready {
		return t.info, nil
	}
	if t.migrate {
		if err := clickhouse.Migrate(ctx, t.client, t.target); err != nil {
			return clickhouse.TableInfo{}, err
		}
	}
	info, err := clickhouse.CheckTable(ctx, t.client, t.target)
	if err != nil {
		return info, err
	}
	t.reporter.warn(info.Warnings)
	t.ready, t.info = true, info
	return info, nil
}

// doubt makes the next use prepare the table again.
func (t *table) doubt() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ready = false
}

// lost returns those of the rows, which the server has answered for, that it does not have. A table that is not a plain
// MergeTree is believed: replicas keep tokens and parts together, and others may be behind.
func (t *table) lost(ctx context.Context, b *block.Builder, rows []uint32) ([]uint32, error) {
	info, err := t.prepare(ctx)
	if err != nil || info.Engine != "MergeTree" {
		return nil, err
	}
	var lost []uint32
	for _, month := range b.Months(rows) {
		_, stored, err := clickhouse.Stored(ctx, t.client, t.target, b.Sample(month))
		switch {
		case errors.Is(err, clickhouse.ErrDenied):
			return nil, nil
		case err != nil:
			return nil, err
		case stored == 0:
			lost = append(lost, month...)
		}
	}
	return lost, nil
}

// missing returns the months of the rows of which the table does not have each single row. What it has may have come with
// another request, so a sample says only that a month is missing, never that it is there.
func (t *table) missing(ctx context.Context, b *block.Builder, rows []uint32) ([]uint32, error) {
	info, err := t.prepare(ctx)
	if err != nil || info.Engine != "MergeTree" {
		return rows, err
	}
	var missing []uint32
	for _, month := range b.Months(rows) {
		for _, looked := range []func([]uint32) []clickhouse.Row{b.Sample, b.All} {
			different, stored, err := clickhouse.Stored(ctx, t.client, t.target, looked(month))
			if errors.Is(err, clickhouse.ErrDenied) {
				return rows, nil
			}
			if err != nil {
				return nil, err
			}
			if stored < different {
				missing = append(missing, month...)
				break
			}
		}
	}
	return missing, nil
}

// store posts one block. The token makes the server store it once, however often it comes.
func (t *table) store(ctx context.Context, body []byte, token string) error {
	info, err := t.prepare(ctx)
	if err != nil {
		return err
	}
	settings := map[string]string{
		"insert_deduplication_token": token,
		// The answer must mean that the rows are in the table.
		"async_insert": "0",
		// The account's profile may say otherwise.
		"insert_deduplicate": "1",
	}
	if info.DeduplicateInsert {
		settings["deduplicate_insert"] = "enable"
	}
	if info.Distributed {
		settings["distributed_foreground_insert"] = "1"
	}
	if t.framed {
		settings["decompress"] = "1"
	}
	err = t.client.Insert(ctx, t.insert, settings, [][]byte{body}, "")
	if err == nil || clickhouse.Classify(err) == clickhouse.Retryable {
		return err
	}
	t.doubt()
	if clickhouse.Classify(err) == clickhouse.Permanent {
		// A table that somebody is altering refuses good rows.
		if _, altered := t.prepare(ctx); altered != nil {
			return altered
		}
	}
	return err
}
