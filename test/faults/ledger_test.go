package faults

import (
	"bufio"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// sample is one scrape of the collector: its metricpoints counters by exporter and name, and its memory.
type sample struct {
	exporters map[string]map[string]float64
	rss       float64 // bytes
}

// sampler scrapes the collector until stop and keeps what does not add up.
type sampler struct {
	address string
	client  *http.Client
	quit    chan struct{}
	work    sync.WaitGroup

	samples    int
	peak       map[string]float64 // of queued points, log bytes and rss
	unbalanced []string
}

const sampleEvery = 50 * time.Millisecond

func startSampler(address string) *sampler {
	s := &sampler{
		address: address, client: &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{}},
		quit: make(chan struct{}), peak: map[string]float64{},
	}
	s.work.Go(s.run)
	return s
}

// stop returns how many samples there were; the other fields may be read after it.
func (s *sampler) stop() int {
	close(s.quit)
	s.work.Wait()
	s.client.CloseIdleConnections()
	return s.samples
}

func (s *sampler) run() {
	ticker := time.NewTicker(sampleEvery)
	defer ticker.Stop()
	for {
		select {
		case <-s.quit:
			return
		case <-ticker.C:
		}
		now, ok := scrape(s.client, s.address)
		if !ok {
			continue // killed
		}
		s.samples++
		s.peak["rss"] = max(s.peak["rss"], now.rss)
		for id, counts := range now.exporters {
			s.peak["queued"] = max(s.peak["queued"], counts["points_queued"])
			s.peak["log"] = max(s.peak["log"], counts["log_size"])
			if counts["points_accepted"] != counts["points_stored"]+counts["points_dropped"]+counts["points_queued"] {
				s.unbalanced = append(s.unbalanced, fmt.Sprintf("%s: %v", id, counts))
			}
		}
	}
}

var exporterLabel = regexp.MustCompile(`exporter="([^"]+)"`)

// scrape reports false when there was no whole answer. Drops are added up over their reasons, and kept by reason too.
func scrape(client *http.Client, address string) (sample, bool) {
	s := sample{exporters: map[string]map[string]float64{}}
	response, err := client.Get("http://" + address + "/metrics")
	if err != nil {
		return s, false
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		line := lines.Text()
		end := strings.LastIndexByte(line, ' ')
		if end < 0 || line[0] == '#' {
			continue
		}
		value, err := strconv.ParseFloat(line[end+1:], 64)
		if err != nil {
			continue
		}
		name, labels, _ := strings.Cut(line[:end], "{")
		if name == "otelcol_process_memory_rss" {
			s.rss = value
		}
		name, ours := strings.CutPrefix(name, "otelcol_metricpoints_")
		match := exporterLabel.FindStringSubmatch(labels)
		if !ours || match == nil {
			continue
		}
		counts := s.exporters[match[1]]
		if counts == nil {
			counts = map[string]float64{}
			s.exporters[match[1]] = counts
		}
		counts[name] += value
		if _, reason, found := strings.Cut(labels, `reason="`); found {
			reason, _, _ = strings.Cut(reason, `"`)
			counts[reason] += value
		}
	}
	// Without its exporters the answer came before the pipelines started.
	return s, lines.Err() == nil && response.StatusCode == http.StatusOK && len(s.exporters) > 0
}
