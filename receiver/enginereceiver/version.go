package enginereceiver

import (
	"context"
	"encoding/json"
	"net/url"
	"time"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/targets"
)

const (
	// versionEvery is how often an engine is asked for its version when nothing says that it restarted. SGLang asks its
	// scheduler before it answers, so not often.
	versionEvery = time.Hour
	// Longer ones are no versions.
	maxVersion = 64
)

// versionPaths are where engines say their version, as member of a JSON object: vLLM's API server, SGLang's since and
// before 0.5.4.
func versionPaths(provider string) []string {
	switch provider {
	case targets.KindVLLM:
		return []string{"/version"}
	case targets.KindSGLang:
		return []string{"/server_info", "/get_server_info"}
	}
	return nil
}

// askVersion asks an engine for its version, once for each of its starts and every hour. An engine that does not say it
// is none the worse for it.
func (p *page) askVersion(ctx context.Context, o *outcome) {
	// A page of several engines has no version, and behind another path is another server's root.
	if o.report == nil || len(o.report.Workers) > 0 || p.target.Path != "/metrics" {
		return
	}
	if o.report.Restarts > 0 || o.report.Provider != p.provider {
		p.version, p.provider = "", o.report.Provider // of the process before
	} else if time.Since(p.versionAt) < versionEvery {
		return
	}
	for _, path := range versionPaths(o.report.Provider) {
		p.versionAt = time.Now()
		if version := p.versionFrom(ctx, path); version != "" {
			p.version = version
			return
		}
	}
}

func (p *page) versionFrom(ctx context.Context, path string) string {
	u, err := url.Parse(p.target.URL)
	if err != nil {
		return ""
	}
	u.Path, u.RawPath, u.RawQuery = path, "", ""
	answer, err := p.r.scraper.Get(ctx, u.String())
	if err != nil {
		return ""
	}
	defer p.r.scraper.Release(answer)
	var info struct {
		Version string `json:"version"`
	}
	if json.Unmarshal(answer.Body, &info) != nil || len(info.Version) > maxVersion {
		return ""
	}
	return info.Version
}
