package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pitwall-otel/pitwall/test/fleet"
)

// pages is what one engine answers, scrape after scrape, as text and as gzip where it compresses.
type pages struct {
	contentType   string
	text, gzipped [][]byte
}

// record asks an engine of the fleet again and again while its virtual time goes on.
func record(ctx context.Context, spec fleet.Spec, n int) (*pages, error) {
	spec.Load.RequestsPerSecond, spec.Load.Streaming = 4*float64(spec.DataRanks), true
	f, err := fleet.Start(fleet.Options{Seed: 1, Engines: []fleet.Spec{spec}})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	f.Advance(time.Minute)
	p := &pages{}
	for range n {
		f.Advance(5 * time.Second)
		text, header, err := get(ctx, f.Engines()[0].URL()+"/metrics")
		if err != nil {
			return nil, err
		}
		p.contentType, p.text = header.Get("Content-Type"), append(p.text, text)
		if !strings.HasPrefix(string(spec.Version), "sglang") {
			continue // vLLM does not compress
		}
		var zipped bytes.Buffer
		zip := gzip.NewWriter(&zipped)
		if _, err := zip.Write(text); err != nil {
			return nil, err
		}
		if err := zip.Close(); err != nil {
			return nil, err
		}
		p.gzipped = append(p.gzipped, zipped.Bytes())
	}
	return p, nil
}

func get(ctx context.Context, url string) ([]byte, http.Header, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	body, err := io.ReadAll(response.Body)
	return body, response.Header, err
}

// size is that of the last page, in KB.
func (p *pages) size() float64 { return float64(len(p.text[len(p.text)-1])) / 1000 }

// servers answer the pages in turn on ports of their own, and count.
type servers struct {
	addresses []string
	answers   atomic.Int64
	listening []*http.Server
	done      sync.WaitGroup
}

func (p *pages) serve(n int) (*servers, error) {
	s := &servers{}
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			s.close()
			return nil, err
		}
		turn := 0
		var mu sync.Mutex
		server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			page := min(turn, len(p.text)-1)
			turn++
			mu.Unlock()
			w.Header().Set("Content-Type", p.contentType)
			body := p.text[page]
			if p.gzipped != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
				w.Header().Set("Content-Encoding", "gzip")
				body = p.gzipped[page]
			}
			if _, err := w.Write(body); err == nil {
				s.answers.Add(1)
			}
		})}
		s.listening, s.addresses = append(s.listening, server), append(s.addresses, listener.Addr().String())
		s.done.Go(func() { _ = server.Serve(listener) }) // ends by close
	}
	return s, nil
}

func (s *servers) close() {
	for _, server := range s.listening {
		_ = server.Close()
	}
	s.done.Wait()
}
