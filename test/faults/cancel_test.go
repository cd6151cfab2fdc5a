package faults

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// Clients give up about when the answer comes: streams are reset and connections closed before, in and after the answer.
// Each request is stored whole and once, or not at all.
func TestImpatientClients(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.collector.Start()
	connection, err := grpc.NewClient(r.collector.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer connection.Close()
	overGRPC := pmetricotlp.NewGRPCClient(connection)
	const each = 20
	var clients sync.WaitGroup
	for range 8 {
		r.producers++
		producer := r.producers
		clients.Go(func() {
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			for i := range rounds(200) {
				q := request{producer: producer, first: i * each, points: each, outcome: unknown}
				patience := rand.N(10 * time.Millisecond)
				if producer%2 == 0 {
					client := &http.Client{Transport: transport, Timeout: patience}
					var err error
					q.outcome, err = exportHTTP(client, "http://"+r.collector.HTTP+"/v1/metrics", r.record.export(q, 0))
					if q.outcome == notSent {
						q.outcome = unknown
					}
					r.record.add(q, err)
					continue
				}
				ctx, cancel := context.WithTimeout(context.Background(), patience)
				_, err := overGRPC.Export(ctx, r.record.export(q, 0))
				cancel()
				if err == nil {
					q.outcome = acknowledged
				}
				r.record.add(q, err)
			}
		})
	}
	clients.Wait()
	got := r.finish(0)
	assert.Positive(t, got.unknownStored, "no client gave up too early")
	assert.Equal(t, [][]string{{"0"}}, r.engine.Query("SELECT count() FROM (SELECT count() % 20 AS rest FROM "+table+
		" GROUP BY JSONExtractInt(tags_json, 'producer'), intDiv(JSONExtractInt(tags_json, 'sequence'), 20)) WHERE rest > 0"))
}
