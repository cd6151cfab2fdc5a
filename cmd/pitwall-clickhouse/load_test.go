package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Writers and readers at once: nobody is refused, nothing is lost, and what the
// requests needed is given back.
func TestWritersAndReadersAtOnce(t *testing.T) {
	h := start(t, t.TempDir())
	h.query(createRows)
	const writers, readers, rounds, rows = 4, 8, 25, 2000
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: writers + readers}}
	defer client.CloseIdleConnections()
	ask := func(target string, body []byte) (string, error) {
		resp, err := client.Post(h.url+target, "", bytes.NewReader(body))
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err == nil && resp.StatusCode != http.StatusOK {
			err = fmt.Errorf("%d: %s", resp.StatusCode, text)
		}
		return string(text), err
	}
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range rounds {
				_, err := ask("/?query=INSERT+INTO+rows+FORMAT+Native", nativeBlock(t, (w*rounds+i)*rows, rows, 2))
				assert.NoError(t, err)
			}
		})
	}
	for range readers {
		all.Go(func() {
			for i := range rounds {
				got, err := ask("/", fmt.Appendf(nil, "SELECT count() %% %d FROM rows FORMAT %s", rows/2, []string{"TSV", "JSONCompact"}[i%2]))
				assert.NoError(t, err)
				if i%2 == 0 {
					assert.Equal(t, "0\n", got, "an INSERT is visible by whole parts")
				}
			}
		})
	}
	all.Wait()
	n := writers * rounds * rows
	assert.Equal(t, fmt.Sprintf("%d\t%d\t%d", n, n, n*(n-1)/2), h.query("SELECT count(), uniqExact(a), sum(a) FROM rows"))
	assert.Equal(t, "1", h.query("SELECT count() FROM system.processes"), "only this statement runs")
	assert.Equal(t, 1, strings.Count(h.log(), "\n"), "%s", h.log())
}
