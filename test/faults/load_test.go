package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// outcome is what a client knows about a request it sent.
type outcome string

const (
	acknowledged outcome = "acknowledged"
	refused      outcome = "refused" // the answer says that nothing was accepted
	unknown      outcome = "unknown" // no answer: it may have been accepted
	notSent      outcome = ""        // no connection; the same points go again
)

// answerTimeout is so long that no client gives up while the collector works on its request: an outcome is unknown only
// when the connection broke.
const answerTimeout = within

// request is a line of the record: points with the sequence numbers first to first+points-1 of a producer.
type request struct {
	producer, first, points int
	outcome                 outcome
}

// shape is what the clients of a load do. Odd ones speak gRPC, even ones HTTP.
type shape struct {
	clients int
	points  int           // in a request
	every   time.Duration // between requests of one client
	pad     int           // bytes of random text in each point
	slow    bool          // clients that read their answers a few bytes at a time
}

// usual is 20,000 points a second on an idle machine.
var usual = shape{clients: 4, points: 50, every: 10 * time.Millisecond}

// record is everything all loads of a test sent.
type record struct {
	mu       sync.Mutex
	requests []request
	counts   map[outcome]*atomic.Int64 // points
	base     time.Time                 // time of the points with sequence 0
	stride   time.Duration             // between the times of a point and the next
	unclear  error                     // why the first unknown outcome is unknown
}

func newRecord() *record {
	return &record{
		base: time.Now().Truncate(time.Millisecond), stride: time.Millisecond,
		counts: map[outcome]*atomic.Int64{acknowledged: {}, refused: {}, unknown: {}},
	}
}

func (r *record) points(o outcome) int64 { return r.counts[o].Load() }

func (r *record) add(q request, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if q.outcome == unknown && r.unclear == nil {
		r.unclear = err
	}
	r.requests = append(r.requests, q)
	r.counts[q.outcome].Add(int64(q.points))
}

// export makes the request of a line. Everything in a point follows from producer and sequence, so that the reconciler
// can tell what must be stored.
func (r *record) export(q request, pad int) pmetricotlp.ExportRequest {
	export := pmetricotlp.NewExportRequest()
	metrics := export.Metrics()
	resource := metrics.ResourceMetrics().AppendEmpty()
	resource.Resource().Attributes().PutStr("rl.run.id", "faults")
	m := resource.ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName("stamp")
	points := m.SetEmptyGauge().DataPoints()
	for sequence := q.first; sequence < q.first+q.points; sequence++ {
		dp := points.AppendEmpty()
		dp.SetTimestamp(pcommon.NewTimestampFromTime(r.base.Add(time.Duration(sequence) * r.stride)))
		dp.SetDoubleValue(float64(sequence) + float64(q.producer)/1024)
		dp.Attributes().PutInt("rl.rank.global", int64(q.producer))
		dp.Attributes().PutInt("rl.step", int64(sequence))
		dp.Attributes().PutInt("producer", int64(q.producer))
		dp.Attributes().PutInt("sequence", int64(sequence))
		if pad > 0 {
			dp.Attributes().PutStr("pad", noise(pad))
		}
	}
	return export
}

// noise is text that does not compress much.
func noise(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = byte('!' + 2 + rand.IntN(57)) // neither quote nor backslash
	}
	return string(text)
}

// load is clients that send until stop.
type load struct {
	record *record
	shape  shape
	quit   chan struct{}
	work   sync.WaitGroup
}

// send starts the clients of a shape; stop waits for them.
func (r *rig) send(s shape) *load {
	l := &load{record: r.record, shape: s, quit: make(chan struct{})}
	for range s.clients {
		r.producers++
		producer := r.producers
		export, end := r.client(producer%2 == 1, s.slow)
		l.work.Go(func() {
			defer end()
			l.run(producer, export)
		})
	}
	return l
}

func (l *load) stop() {
	close(l.quit)
	l.work.Wait()
}

func (l *load) run(producer int, export exportFunc) {
	ticker := time.NewTicker(l.shape.every)
	defer ticker.Stop()
	for next := 0; ; {
		q := request{producer: producer, first: next, points: l.shape.points}
		var err error
		if q.outcome, err = export(l.record.export(q, l.shape.pad)); q.outcome != notSent {
			l.record.add(q, err)
			next += q.points
		}
		select {
		case <-l.quit:
			return
		case <-ticker.C:
		}
	}
}

// exportFunc sends one request and says what came of it, and for an unknown outcome why.
type exportFunc func(pmetricotlp.ExportRequest) (outcome, error)

// client returns a client of its own connection; end closes that.
func (r *rig) client(overGRPC, slow bool) (export exportFunc, end func()) {
	dial := (&net.Dialer{}).DialContext
	if slow {
		dial = dialSlow
	}
	if overGRPC {
		return grpcClient(r.t, r.collector.GRPC, dial)
	}
	transport := &http.Transport{DialContext: dial}
	client := &http.Client{Transport: transport, Timeout: answerTimeout}
	url := "http://" + r.collector.HTTP + "/v1/metrics"
	return func(q pmetricotlp.ExportRequest) (outcome, error) { return exportHTTP(client, url, q) }, transport.CloseIdleConnections
}

func exportHTTP(client *http.Client, url string, q pmetricotlp.ExportRequest) (outcome, error) {
	body, err := q.MarshalProto()
	if err != nil {
		panic(err) // of our own making
	}
	response, err := client.Post(url, "application/x-protobuf", bytes.NewReader(body))
	if err != nil {
		if network, ok := errors.AsType[*net.OpError](err); ok && network.Op == "dial" {
			return notSent, err
		}
		return unknown, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return unknown, err
	case response.StatusCode != http.StatusOK && response.Header.Get("Retry-After") == "":
		return unknown, fmt.Errorf("%s, and not when to come again: %q", response.Status, answer)
	case response.StatusCode != http.StatusOK:
		return refused, nil
	}
	said := pmetricotlp.NewExportResponse()
	if err := said.UnmarshalProto(answer); err != nil || said.PartialSuccess().RejectedDataPoints() != 0 {
		return unknown, fmt.Errorf("answer %q: %w", answer, err)
	}
	return acknowledged, nil
}

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

func grpcClient(t *testing.T, address string, dial dialFunc) (export exportFunc, end func()) {
	t.Helper()
	connection, err := grpc.NewClient("passthrough:///"+address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) { return dial(ctx, "tcp", address) }),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 1.2, MaxDelay: 200 * time.Millisecond},
			MinConnectTimeout: 5 * time.Second, // slow clients are slow from the handshake on
		}))
	require.NoError(t, err)
	client := pmetricotlp.NewGRPCClient(connection)
	export = func(q pmetricotlp.ExportRequest) (outcome, error) {
		ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
		defer cancel()
		response, err := client.Export(ctx, q, grpc.WaitForReady(true))
		if err == nil && response.PartialSuccess().RejectedDataPoints() == 0 {
			return acknowledged, nil
		}
		// A broken connection is UNAVAILABLE as well; only the collector says when to come again.
		for _, detail := range status.Convert(err).Details() {
			if _, ok := detail.(*errdetails.RetryInfo); ok && status.Code(err) == codes.Unavailable {
				return refused, nil
			}
		}
		return unknown, err
	}
	return export, func() { _ = connection.Close() }
}

// dialSlow returns a connection that takes what it reads in small pieces, with a pause before each.
func dialSlow(ctx context.Context, network, address string) (net.Conn, error) {
	connection, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if tcp, ok := connection.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(1 << 10)
	}
	return slowReader{connection}, nil
}

type slowReader struct{ net.Conn }

func (s slowReader) Read(p []byte) (int, error) {
	<-time.After(5 * time.Millisecond)
	return s.Conn.Read(p[:min(len(p), 16)])
}

func (q request) String() string {
	return fmt.Sprintf("%d\t%d\t%d\t%s\n", q.producer, q.first, q.points, q.outcome)
}
