package clickhouse

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// scriptedClient talks to a server that answers a statement with the text of the longest key found in it.
func scriptedClient(t *testing.T, answers map[string]string) *Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		statement, _ := io.ReadAll(r.Body)
		best := ""
		for key := range answers {
			if strings.Contains(string(statement), key) && len(key) > len(best) {
				best = key
			}
		}
		if best == "" {
			t.Errorf("no answer for: %s", statement)
		}
		w.Header().Set("X-ClickHouse-Query-Id", "1")
		_, _ = io.WriteString(w, answers[best])
	}))
	t.Cleanup(server.Close)
	return newTestClient(t, server.URL, "", "")
}
