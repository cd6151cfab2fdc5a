package test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
)

const (
	// stampRun is the run of all stamped points.
	stampRun = "stamped"
	// Ten points in a request, a request every few milliseconds: a load that leaves the machine to the other tests.
	stampsPerRequest = 10
	requestEvery     = 5 * time.Millisecond
)

// stamp names one point among all that the producers send.
type stamp struct{ producer, sequence int }

// row is what must stand in the table for it.
func (s stamp) row(millis int64) row {
	return row{
		millis: millis, run: stampRun, device: noDevice, step: uint64(s.sequence), metric: "stamp",
		value: number(float64(s.producer)), tags: fmt.Sprintf(`{"producer":%d,"sequence":%d}`, s.producer, s.sequence),
	}
}

// sent holds every point sent and whether it was acknowledged.
type sent map[stamp]bool

func (s sent) unanswered() int {
	n := 0
	for _, answered := range s {
		if !answered {
			n++
		}
	}
	return n
}

// producers send stamped points over OTLP/HTTP, each request once, whatever comes back.
type producers struct {
	url      string
	client   *http.Client
	quit     chan struct{}
	work     sync.WaitGroup
	answered atomic.Int64

	mu   sync.Mutex
	sent sent
}

func produce(c *collectortest.Collector, n int) *producers {
	p := &producers{
		url: "http://" + c.HTTP + "/v1/metrics", client: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{}},
		quit: make(chan struct{}), sent: sent{},
	}
	for producer := range n {
		p.work.Go(func() { p.run(producer) })
	}
	return p
}

func (p *producers) acknowledged() int64 { return p.answered.Load() }

func (p *producers) stop() sent {
	close(p.quit)
	p.work.Wait()
	p.client.CloseIdleConnections()
	return p.sent
}

func (p *producers) run(producer int) {
	ticker := time.NewTicker(requestEvery)
	defer ticker.Stop()
	for sequence := 0; ; {
		select {
		case <-p.quit:
			return
		case <-ticker.C:
		}
		request := sent{}
		for range stampsPerRequest {
			request[stamp{producer, sequence}] = false
			sequence++
		}
		if p.post(request) {
			for s := range request {
				request[s] = true
			}
			p.answered.Add(stampsPerRequest)
		}
		p.mu.Lock()
		maps.Copy(p.sent, request)
		p.mu.Unlock()
	}
}

// post reports whether the request was acknowledged.
func (p *producers) post(request sent) bool {
	var points bytes.Buffer
	for s := range request {
		if points.Len() > 0 {
			points.WriteByte(',')
		}
		fmt.Fprintf(&points, `{"timeUnixNano":"%d","asInt":%d,"attributes":[
			{"key":"rl.step","value":{"intValue":%d}},{"key":"sequence","value":{"intValue":%[3]d}},{"key":"producer","value":{"intValue":%[2]d}}]}`,
			time.Now().UnixNano(), s.producer, s.sequence)
	}
	body := `{"resourceMetrics":[{"resource":{"attributes":[{"key":"rl.run.id","value":{"stringValue":"` + stampRun + `"}}]},
		"scopeMetrics":[{"metrics":[{"name":"stamp","gauge":{"dataPoints":[` + points.String() + `]}}]}]}]}`
	response, err := p.client.Post(p.url, "application/json", bytes.NewReader([]byte(body)))
	if err != nil {
		return false
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err == nil && response.StatusCode == http.StatusOK
}
