package enginereceiver

import (
	"context"
	"errors"
	"io"
	"net/http"
)

func (r *engineReceiver) get(ctx context.Context, url string) ([]byte, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("Accept", "text/plain;version=0.0.4;q=1,*/*;q=0.1")
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, "", errors.New(resp.Status)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, r.cfg.MaxBodySize))
	return body, resp.Header.Get("Content-Type"), err
}

func failureOf(error) string { return "failed" }
