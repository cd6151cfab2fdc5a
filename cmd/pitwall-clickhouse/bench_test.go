package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/stretchr/testify/require"
)

// post sends a body on a kept connection and reads the answer away.
func post(b *testing.B, client *http.Client, target string, body []byte) {
	resp, err := client.Post(target, "", bytes.NewReader(body))
	if err != nil {
		b.Error(err)
		return
	}
	text, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusOK {
		b.Errorf("%d %v: %.200s", resp.StatusCode, err, text)
	}
}

func BenchmarkSmallQuery(b *testing.B) {
	h := start(b, b.TempDir())
	h.query("CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a")
	h.query("INSERT INTO t SELECT number FROM numbers(1000)")
	for name, sql := range map[string]string{"one": "SELECT 1", "table": "SELECT count(), max(a) FROM t WHERE a > 10 FORMAT JSON"} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				post(b, http.DefaultClient, h.url, []byte(sql))
			}
		})
	}
	b.Run("parallel", func(b *testing.B) {
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
		b.SetParallelism(4)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				post(b, client, h.url, []byte("SELECT 1"))
			}
		})
	})
}

func BenchmarkInsert(b *testing.B) {
	h := start(b, b.TempDir())
	h.query(createRows)
	target := h.url + "/?" + url.Values{"query": {"INSERT INTO rows FORMAT Native"}}.Encode()
	for _, rows := range []int{1_000, 50_000} {
		block := nativeBlock(b, 0, rows, 1)
		w := compress.NewWriter(compress.LevelZero, compress.LZ4)
		require.NoError(b, w.Compress(block))
		for name, in := range map[string]struct {
			target string
			body   []byte
		}{"none": {target, block}, "lz4": {target + "&decompress=1", w.Data}} {
			b.Run(fmt.Sprintf("%d/%s", rows, name), func(b *testing.B) {
				b.SetBytes(int64(len(block)))
				for i := range b.N {
					post(b, http.DefaultClient, fmt.Sprintf("%s&insert_deduplication_token=%s%d-%d-%d", in.target, name, rows, b.N, i), in.body)
				}
				b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}

func BenchmarkNativeResult(b *testing.B) {
	h := start(b, b.TempDir())
	for name, more := range map[string]string{"revision 0": "", "recoded": "&client_protocol_version=54460", "recoded lz4": "&client_protocol_version=54460&compress=1"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(16 * 1_000_000)
			for range b.N {
				post(b, http.DefaultClient, h.url+"/?default_format=Native"+more, []byte("SELECT number, toFloat64(number) FROM numbers(1000000)"))
			}
		})
	}
}
