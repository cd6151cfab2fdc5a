package panels

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// stack is a collector with its embedded engine, as make run starts them, on free ports and in a folder of its own.
type stack struct {
	sql, otlp, health, engines, password string
}

// startStack starts it with config/single-node.yaml and, over it, overrides in YAML.
func startStack(t *testing.T, overrides ...string) *stack {
	t.Helper()
	s := &stack{sql: freeAddress(t), otlp: freeAddress(t), health: freeAddress(t), engines: freeAddress(t), password: rand.Text()}
	dir := t.TempDir()
	shipped, err := os.ReadFile(filepath.Join(root, "config", "single-node.yaml"))
	require.NoError(t, err)
	_, metrics, err := net.SplitHostPort(freeAddress(t))
	require.NoError(t, err)
	moved := strings.NewReplacer("127.0.0.1:4317", freeAddress(t), "127.0.0.1:4318", s.otlp, "127.0.0.1:8123", s.sql,
		"127.0.0.1:13133", s.health, "127.0.0.1:13135", s.engines, "port: 13134", "port: "+metrics).Replace(string(shipped))
	config := filepath.Join(dir, "single-node.yaml")
	require.NoError(t, os.WriteFile(config, []byte(moved), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "data"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "data", "clickhouse.password"), []byte(s.password), 0o600))

	binary, err := filepath.Abs(filepath.Join(root, "bin", "pitwall"))
	require.NoError(t, err)
	said := &bytes.Buffer{}
	arguments := []string{"--config", config}
	for _, override := range overrides {
		arguments = append(arguments, "--config", "yaml:"+override)
	}
	collector := exec.Command(binary, arguments...)
	collector.Dir, collector.Stdout, collector.Stderr = dir, said, said
	collector.Env = append(os.Environ(), "PITWALL_CLICKHOUSE_PASSWORD="+s.password)
	collector.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	require.NoError(t, collector.Start(), "run make deps build first")
	exited := make(chan error, 1)
	go func() { exited <- collector.Wait() }()
	t.Cleanup(func() {
		_ = collector.Process.Signal(syscall.SIGTERM)
		select {
		case <-exited:
		case <-time.After(time.Minute):
			_ = collector.Process.Kill()
			<-exited
		}
		if t.Failed() {
			t.Logf("the collector said:\n%s", said.Bytes()[max(0, said.Len()-8<<10):])
		}
	})
	require.Eventually(t, func() bool {
		answer, err := http.Get("http://" + s.health + "/status")
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	}, 90*time.Second, 100*time.Millisecond, "the collector is not healthy")
	return s
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

// run executes a statement and returns what it answers, in TSV unless it names a format.
func (s *stack) run(t *testing.T, statement string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.sql, strings.NewReader(statement))
	require.NoError(t, err)
	request.SetBasicAuth("default", s.password)
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode, "%s\n%s", body, statement)
	return strings.TrimRight(string(body), "\n")
}

func (s *stack) dataSource(t *testing.T) *dataSource {
	t.Helper()
	host, port, err := net.SplitHostPort(s.sql)
	require.NoError(t, err)
	var number int
	_, err = fmt.Sscan(port, &number)
	require.NoError(t, err)
	source, err := newDataSource(t.Context(), host, number, "default", s.password)
	require.NoError(t, err)
	return source
}
