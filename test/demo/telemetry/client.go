package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/pitwall-otel/pitwall/schema"
	"github.com/pitwall-otel/pitwall/test/demo/simulation"
)

// Limits of a request, and how long a server that is busy or away is tried.
const (
	pointsPerRequest = 20_000
	itemsPerRequest  = 5_000
	patience         = 2 * time.Minute
)

// Client collects facts and sends them in large requests.
type Client struct {
	base      string
	schemaURL string
	http      *http.Client

	points     []simulation.Point
	histograms []simulation.Histogram
	spans      []simulation.State
	moments    []moment
	events     []simulation.Event
	open       []simulation.State // begun, and nobody knows when they end
	upTo       time.Time          // what was said of them
	// Sent counts what was answered with success; a histogram is one point.
	Sent struct{ Points, Spans, Records int64 }
}

// NewClient sends to an OTLP/HTTP address, http://127.0.0.1:4318.
func NewClient(base string) (*Client, error) {
	registry, err := schema.Load()
	if err != nil {
		return nil, fmt.Errorf("load the schema: %w", err)
	}
	return &Client{base: base, schemaURL: registry.SchemaURL(), http: &http.Client{Timeout: time.Minute}}, nil
}

// Add takes over what of the chunk happens after from and not after to, and sends when enough has come together.
func (c *Client) Add(ctx context.Context, chunk *simulation.Chunk, from, to time.Time) error {
	within := func(at time.Time) bool { return at.After(from) && !at.After(to) }
	for _, p := range chunk.Points {
		if within(p.Time) {
			c.points = append(c.points, p)
		}
	}
	for _, h := range chunk.Histograms {
		if within(h.Time) {
			c.histograms = append(c.histograms, h)
		}
	}
	for _, e := range chunk.Events {
		if within(e.Time) {
			c.events = append(c.events, e)
		}
	}
	for _, s := range c.open {
		c.moments = appendMoments(c.moments, s, c.upTo, to)
	}
	c.upTo = to
	for _, s := range chunk.States {
		c.moments = appendMoments(c.moments, s, from, to)
		switch {
		case s.End.IsZero() && within(s.Begin):
			c.open = append(c.open, s)
		case within(s.End):
			c.spans = append(c.spans, s)
		}
	}
	if len(c.points) >= pointsPerRequest {
		if err := c.sendPoints(ctx); err != nil {
			return err
		}
	}
	if len(c.spans)+len(c.moments)+len(c.events) >= itemsPerRequest {
		return c.sendStates(ctx)
	}
	return nil
}

// Flush sends what is left.
func (c *Client) Flush(ctx context.Context) error {
	if err := c.sendPoints(ctx); err != nil {
		return err
	}
	return c.sendStates(ctx)
}

// Close gives up the connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

func (c *Client) sendPoints(ctx context.Context) error {
	if len(c.points)+len(c.histograms) == 0 {
		return nil
	}
	body, err := pmetricotlp.NewExportRequestFromMetrics(c.metrics()).MarshalProto()
	if err != nil {
		return fmt.Errorf("encode metrics: %w", err)
	}
	if err := c.post(ctx, "/v1/metrics", body); err != nil {
		return err
	}
	c.Sent.Points += int64(len(c.points) + len(c.histograms))
	c.points, c.histograms = c.points[:0], c.histograms[:0]
	return nil
}

func (c *Client) sendStates(ctx context.Context) error {
	if traces := c.traces(); traces.SpanCount() > 0 {
		body, err := ptraceotlp.NewExportRequestFromTraces(traces).MarshalProto()
		if err != nil {
			return fmt.Errorf("encode spans: %w", err)
		}
		if err := c.post(ctx, "/v1/traces", body); err != nil {
			return err
		}
		c.Sent.Spans += int64(traces.SpanCount())
	}
	if logs := c.logs(); logs.LogRecordCount() > 0 {
		body, err := plogotlp.NewExportRequestFromLogs(logs).MarshalProto()
		if err != nil {
			return fmt.Errorf("encode log records: %w", err)
		}
		if err := c.post(ctx, "/v1/logs", body); err != nil {
			return err
		}
		c.Sent.Records += int64(logs.LogRecordCount())
	}
	c.spans, c.moments, c.events = c.spans[:0], c.moments[:0], c.events[:0]
	return nil
}

// post sends until it is answered with success, for as long as its patience lasts.
func (c *Client) post(ctx context.Context, path string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		again, err := c.try(ctx, path, body)
		if err == nil {
			return nil
		}
		if again < 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("given up: %w", errors.Join(ctx.Err(), err))
		case <-time.After(max(wait, again)):
		}
	}
}

// try returns how long the server wants to be left alone, negative when another try is of no use.
func (c *Client) try(ctx context.Context, path string, body []byte) (time.Duration, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, bytes.NewReader(body))
	if err != nil {
		return -1, fmt.Errorf("request to %s%s: %w", c.base, path, err)
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	response, err := c.http.Do(request)
	if err != nil {
		return 0, fmt.Errorf("send to %s%s: %w", c.base, path, err)
	}
	defer func() { _ = response.Body.Close() }()
	text, _ := io.ReadAll(io.LimitReader(response.Body, 4096))
	switch response.StatusCode {
	case http.StatusOK:
		return 0, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		return time.Duration(seconds) * time.Second, fmt.Errorf("%s%s: %s: %s", c.base, path, response.Status, text)
	}
	return -1, fmt.Errorf("%s%s: %s: %s", c.base, path, response.Status, text)
}
