package scrape_test

import (
	"net/http"
	"testing"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/expositiontest"
	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/scrape"
)

// Both ends are in the figures.
func BenchmarkGet(b *testing.B) {
	text := expositiontest.VLLM(8, 1)
	f := func(name, encoding string, sent []byte) {
		b.Run(name, func(b *testing.B) {
			server := serve(b, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Encoding"] = []string{encoding}
				_, _ = w.Write(sent)
			})
			c := client(b, scrape.DefaultOptions())
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				page, err := c.Get(b.Context(), server.URL)
				if err != nil || len(page.Body) != len(text) {
					b.Fatal(err)
				}
				c.Release(page)
			}
		})
	}
	f("text", "identity", text)
	f("gzip", "gzip", zipped(b, text))
}
