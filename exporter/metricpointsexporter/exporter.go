package metricpointsexporter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/batchids"
	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/delta"
	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/metadata"
	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/points"
	"github.com/pitwall-otel/pitwall/internal/clickhouse"
	"github.com/pitwall-otel/pitwall/internal/seldom"
	"github.com/pitwall-otel/pitwall/internal/wal"
	"github.com/pitwall-otel/pitwall/schema"
)

// metricPoints accepts requests into the log; senders take them from there to the table.
type metricPoints struct {
	config    *Config
	settings  exporter.Settings
	encoding  points.Settings
	telemetry *metadata.TelemetryBuilder
	self      metric.MeasurementOption // names this exporter among several

	// encoders are idle ones. Their tables make a warm encoder much cheaper than a new one, which rules out a
	// sync.Pool: that is emptied at every collection. It is right for those that hold much memory, which a huge request
	// must not keep for good.
	encoders chan *points.Encoder
	spacious sync.Pool // *points.Encoder
	payloads sync.Pool // *[]byte

	log      *wal.Log
	batchIDs *batchids.Set    // nil: turned off
	deltas   *delta.Converter // of histograms
	seldom   *zap.Logger      // each message once a minute

	ledger *ledger
	stop   context.CancelFunc
	owned  sync.WaitGroup

	observed metric.Registration
}

// keptBytes is the size above which an encoder is held no longer than until the next collections of garbage.
const keptBytes = 4 << 20

func newMetricPoints(set exporter.Settings, config *Config) (*metricPoints, error) {
	registry, err := schema.Load()
	if err != nil {
		return nil, fmt.Errorf("load the schema registry: %w", err)
	}
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	return &metricPoints{
		config:    config,
		settings:  set,
		seldom:    seldom.Logger(set.Logger),
		telemetry: telemetry,
		self:      metric.WithAttributes(attribute.String("exporter", set.ID.String())),
		encoding: points.Settings{
			Registry:          registry,
			ResourceTags:      config.ResourceTags,
			TimePolicy:        config.TimePolicy,
			MaxNameBytes:      config.Limits.NameBytes,
			MaxAttributeBytes: config.Limits.AttributeBytes,
			MaxTagsBytes:      config.Limits.TagsBytes,
		},
		encoders: make(chan *points.Encoder, 2*runtime.GOMAXPROCS(0)),
		payloads: sync.Pool{New: func() any { return new([]byte) }},
	}, nil
}

func (e *metricPoints) start(ctx context.Context, host component.Host) error {
	client, err := e.client(ctx, host)
	if err != nil {
		return err
	}
	log, err := e.openLog()
	if err != nil {
		return fmt.Errorf("'log::directory': %w", err)
	}
	e.log = log
	e.ledger = newLedger(log)
	if e.observed, err = e.observe(); err != nil {
		return errors.Join(err, e.closeLog())
	}

	running, stop := context.WithCancel(context.Background())
	e.stop = stop
	table := newTable(client, e.config, newReporter(host, e.settings.Logger))
	letters := deadLetters{
		directory: filepath.Join(e.config.Log.Directory, "dead-letter"),
		maxBytes:  e.config.DeadLetter.MaxSizeMiB << 20,
	}
	senders := make([]*sender, e.config.Insert.InFlight)
	for i := range senders {
		if senders[i], err = newSender(e, table, letters); err != nil {
			stop()
			return errors.Join(err, e.observed.Unregister(), e.closeLog())
		}
	}
	for _, s := range senders {
		e.owned.Go(func() { s.run(running) })
	}
	if e.config.LedgerInterval > 0 {
		e.owned.Go(func() { e.writeLedger(running) })
	}
	return nil
}

func (e *metricPoints) client(ctx context.Context, host component.Host) (*clickhouse.Client, error) {
	http := e.config.ClientConfig
	http.Compression = "" // the blocks are compressed already
	client, err := http.ToClient(ctx, host.GetExtensions(), e.settings.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	return clickhouse.NewClient(client, e.config.ClientConfig.Endpoint, e.config.Username, e.password)
}

// password reads the file at every use: the embedded engine may write it after us, and it may be changed.
func (e *metricPoints) password() (configopaque.String, error) {
	if e.config.PasswordFile == "" {
		return e.config.Password, nil
	}
	content, err := os.ReadFile(e.config.PasswordFile)
	if err != nil {
		return "", fmt.Errorf("'password_file': %w", err)
	}
	return configopaque.String(strings.TrimSpace(string(content))), nil
}

func (e *metricPoints) shutdown(context.Context) error {
	if e.stop == nil {
		return nil
	}
	e.stop()
	e.owned.Wait()
	e.stop = nil
	return errors.Join(e.observed.Unregister(), e.closeLog())
}

// openLog opens the log and, by it, what is known of requests and of histograms.
func (e *metricPoints) openLog() (*wal.Log, error) {
	options := wal.Options{
		Dir:          e.config.Log.Directory,
		MaxBytes:     e.config.Log.MaxSizeMiB << 20,
		MinFreeBytes: e.config.Log.MinFreeMiB << 20,
		CutRows:      e.config.Insert.Rows,
		CutInterval:  e.config.Insert.Interval,
		Logger:       e.settings.Logger,
	}
	var err error
	if e.batchIDs, err = e.openBatchIDs(); err != nil {
		return nil, err
	}
	e.deltas = e.newDeltas()
	options.Kept, options.Sealing, options.Carried = e.kept, e.sealing, e.deltas.Restore
	log, err := wal.Open(options)
	if err != nil && e.batchIDs != nil {
		e.batchIDs.Close()
	}
	return log, err
}

func (e *metricPoints) closeLog() error {
	err := e.log.Close()
	if e.batchIDs != nil {
		e.batchIDs.Close()
	}
	return err
}

// kept is told of every payload that is on disk; nil stands for what cannot be read.
func (e *metricPoints) kept(payload []byte) {
	if payload == nil {
		e.deltas.Forget()
		return
	}
	request, schemaVersion := points.RequestOf(payload)
	if e.batchIDs != nil && request.ID != (points.BatchID{}) {
		e.batchIDs.Keep(request.ID)
	}
	e.deltas.Keep(schemaVersion, request.States)
}

// sealing is called when the log begins a segment, and returns what goes into its header.
func (e *metricPoints) sealing() []byte {
	if e.batchIDs != nil {
		e.batchIDs.Sync()
	}
	return e.deltas.Snapshot()
}

// consume returns when the request is on disk.
func (e *metricPoints) consume(ctx context.Context, metrics pmetric.Metrics) error {
	payload := e.payloads.Get().(*[]byte)
	defer e.payloads.Put(payload)
	id := e.batchID(ctx)
	conversion := e.deltas.Convert(metrics)
	defer conversion.Release()
	counts := e.encode(payload, metrics, points.Request{ID: id, States: conversion.States})
	counts.StartUnknown, counts.Repeated = conversion.StartUnknown, conversion.Repeated
	if id != (points.BatchID{}) && counts.Rows > 0 {
		known, err := e.batchIDs.Begin(ctx, id)
		switch {
		case err != nil:
			e.ledger.refuse(counts)
			return refused(err)
		case known:
			e.ledger.acceptDuplicate(counts)
			return nil
		}
		defer e.batchIDs.Finish(id)
	}
	if len(*payload) > 0 {
		if err := e.log.Append(ctx, *payload, counts.Rows); err != nil {
			e.ledger.refuse(counts)
			return refused(err)
		}
	}
	e.ledger.accept(counts)
	return nil
}

// encode holds an encoder no longer than it computes: requests that wait for the disk need none.
func (e *metricPoints) encode(payload *[]byte, metrics pmetric.Metrics, request points.Request) (counts points.Counts) {
	encoder := e.takeEncoder()
	*payload, counts = encoder.Encode((*payload)[:0], metrics, request, time.Now())
	e.giveEncoder(encoder)
	return counts
}

func (e *metricPoints) takeEncoder() *points.Encoder {
	select {
	case encoder := <-e.encoders:
		return encoder
	default:
	}
	if encoder, ok := e.spacious.Get().(*points.Encoder); ok {
		return encoder
	}
	return points.NewEncoder(e.encoding)
}

func (e *metricPoints) giveEncoder(encoder *points.Encoder) {
	if encoder.Held() > keptBytes {
		e.spacious.Put(encoder)
		return
	}
	select {
	case e.encoders <- encoder:
	default:
	}
}
