package fleet

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"strings"
)

const htmlPage = `<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center></body></html>
`

func (e *Engine) handler(life *Life) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) { e.serveMetrics(life, w, r) })
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	version, path := map[string]string{"version": e.spec.Version.number()}, "GET /version"
	if e.spec.Version.sglang() {
		path = "GET /get_server_info"
	}
	mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, version) })
	return mux
}

func (e *Engine) serveMetrics(life *Life, w http.ResponseWriter, r *http.Request) {
	e.fleet.mu.Lock()
	answer, released := e.answer, e.released
	e.fleet.mu.Unlock()
	switch answer {
	case answersHTML:
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(htmlPage))
		return
	case answersNever:
		select {
		case <-released:
		case <-r.Context().Done():
		}
		panic(http.ErrAbortHandler) // nothing, not even an empty answer
	case answersMetrics:
	}
	var x exposition
	e.fleet.mu.Lock()
	if e.life != life {
		e.fleet.mu.Unlock()
		panic(http.ErrAbortHandler)
	}
	contentType := "text/plain; version=0.0.4; charset=utf-8"
	if e.spec.Version.sglang() {
		writeSGLang(&x, e)
	} else {
		writeVLLM(&x, e)
		if e.spec.Version == VLLM026 { // what client_python says since 0.23, for the same text
			contentType = "text/plain; version=1.0.0; charset=utf-8"
		}
	}
	totals := e.byRank()
	e.fleet.mu.Unlock()
	text := x.Bytes()
	if e.spec.Version == SGLangMain && strings.Contains(r.Header.Get("Accept"), "application/openmetrics-text") {
		contentType, text = "application/openmetrics-text; version=1.0.0; charset=utf-8", openMetrics(text)
	}

	w.Header().Set("Content-Type", contentType)
	var err error
	if e.spec.Version.sglang() && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		_, err = zip.Write(text)
		if err == nil {
			err = zip.Close()
		}
	} else {
		_, err = w.Write(text)
	}
	if err == nil {
		e.fleet.mu.Lock()
		defer e.fleet.mu.Unlock()
		life.served(totals)
	}
}

// openMetrics is the same as client_python since 0.23.1 writes it in that format, with its defect (client_python #1177):
// HELP and TYPE keep the colon that the samples' names have lost, so type and samples are of two families.
func openMetrics(text []byte) []byte {
	var out bytes.Buffer
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(line, "# TYPE ") && strings.HasSuffix(line, "_total counter\n"):
			line = strings.TrimSuffix(line, "_total counter\n") + " counter\n"
		case strings.HasPrefix(line, "# HELP "):
			name, help, _ := strings.Cut(strings.TrimPrefix(line, "# HELP "), " ")
			line = "# HELP " + strings.TrimSuffix(name, "_total") + " " + help
		case !strings.HasPrefix(line, "#"):
			line = strings.Replace(line, ":", "_", 1)
		}
		out.WriteString(line)
	}
	out.WriteString("# EOF\n")
	return out.Bytes()
}

func writeJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // whoever asked has gone
}
