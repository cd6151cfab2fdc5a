package collectortest

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/enginetest"
	"github.com/pitwall-otel/pitwall/internal/repository"
)

const (
	// startTimeout covers an embedded engine that starts on a machine busy with other tests.
	startTimeout = 90 * time.Second
	stopTimeout  = 60 * time.Second
	shownLog     = 16 << 10
)

// Collector is one collector and its folder. The addresses are host:port.
type Collector struct {
	// Dir is where the collector runs: its configuration, its data/ and its log lie there.
	Dir string
	// SQL is ClickHouse's HTTP interface, Telemetry what the collector says about itself in Prometheus' form.
	// Engines is where inference engines are registered.
	GRPC, HTTP, SQL, Health, Telemetry, Engines string
	// Password is that of ClickHouse's user default.
	Password string
	// Env is added to the test's own environment at the next Start.
	Env []string
	// Wrapper, if set, is a program with arguments that becomes the collector: its command line is what follows them.
	Wrapper []string

	t       *testing.T
	binary  string
	configs []string
	process *exec.Cmd
	exited  chan error
}

// New prepares a collector for a shipped configuration, "config/single-node.yaml". Each override is a piece of YAML
// merged over it in order, as further --config files would be. Nothing runs before Start.
func New(t *testing.T, config string, overrides ...string) *Collector {
	t.Helper()
	root, err := repository.Root()
	require.NoError(t, err)
	c := &Collector{
		Dir: t.TempDir(), Password: password(),
		GRPC: enginetest.FreeAddress(t), HTTP: enginetest.FreeAddress(t), SQL: enginetest.FreeAddress(t), Health: enginetest.FreeAddress(t), Telemetry: enginetest.FreeAddress(t),
		Engines: enginetest.FreeAddress(t), t: t, binary: filepath.Join(root, "bin", "pitwall"),
	}
	_, err = os.Stat(c.binary)
	require.NoError(t, err, "run make deps build first")

	shipped, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(config)))
	require.NoError(t, err)
	moved := strings.NewReplacer(
		"127.0.0.1:4317", c.GRPC, "127.0.0.1:4318", c.HTTP, "127.0.0.1:8123", c.SQL, "127.0.0.1:13133", c.Health,
		"port: 13134", "port: "+port(c.Telemetry), "127.0.0.1:13135", c.Engines,
	).Replace(string(shipped))
	for _, text := range append([]string{moved}, overrides...) {
		name := filepath.Join(c.Dir, "config"+string(rune('a'+len(c.configs)))+".yaml")
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		c.configs = append(c.configs, name)
	}
	require.NoError(t, os.Mkdir(filepath.Join(c.Dir, "data"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(c.Dir, "data", "clickhouse.password"), []byte(c.Password), 0o600))
	t.Cleanup(c.cleanup)
	return c
}

// Start starts the collector and waits until it says that it is healthy.
func (c *Collector) Start() {
	c.t.Helper()
	c.Launch()
	client := &http.Client{Timeout: 2 * time.Second}
	healthy := func() bool {
		response, err := client.Get("http://" + c.Health + "/status")
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	}
	require.Eventually(c.t, func() bool { return healthy() || c.hasExited() }, startTimeout, 100*time.Millisecond,
		"the collector is not healthy")
	require.False(c.t, c.hasExited(), "the collector ended while it started")
}

// Launch starts the collector and does not wait: for a test of a start that takes long or fails.
func (c *Collector) Launch() {
	c.t.Helper()
	require.Nil(c.t, c.process, "the collector runs already")
	log, err := os.OpenFile(c.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(c.t, err)
	var arguments []string
	for _, name := range c.configs {
		arguments = append(arguments, "--config", name)
	}
	command := slices.Concat(c.Wrapper, []string{c.binary}, arguments)
	process := exec.Command(command[0], command[1:]...)
	process.Dir = c.Dir
	process.Env = append(os.Environ(), "PITWALL_CLICKHOUSE_PASSWORD="+c.Password)
	process.Env = append(process.Env, c.Env...)
	process.Stdout, process.Stderr = log, log
	// A group of its own: Ctrl-C at the test must not reach the collector beside Stop.
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	require.NoError(c.t, process.Start())
	require.NoError(c.t, log.Close())

	c.process, c.exited = process, make(chan error, 1)
	go func(exited chan<- error) { exited <- process.Wait() }(c.exited)
}

// Stop asks the collector to stop, as Ctrl-C does, and requires that it ends without an error.
func (c *Collector) Stop() {
	c.t.Helper()
	require.NoError(c.t, c.signal(syscall.SIGINT), "the collector did not stop cleanly")
}

// Kill ends the collector as a crash would. The embedded engine is a process of its own and may outlive it briefly.
func (c *Collector) Kill() {
	c.t.Helper()
	var exit *exec.ExitError
	require.ErrorAs(c.t, c.signal(syscall.SIGKILL), &exit)
}

// Wait returns how the collector ended, once it has: for a test of a start that fails.
func (c *Collector) Wait() error {
	c.t.Helper()
	select {
	case err := <-c.exited:
		c.process = nil
		return err
	case <-time.After(stopTimeout):
		return errors.New("the collector still runs")
	}
}

// Log returns what the collector has said since New.
func (c *Collector) Log() string {
	c.t.Helper()
	text, err := os.ReadFile(c.logFile())
	require.NoError(c.t, err)
	return string(text)
}

// PID is the process id of the running collector.
func (c *Collector) PID() int { return c.process.Process.Pid }

func (c *Collector) signal(signal syscall.Signal) error {
	c.t.Helper()
	require.NotNil(c.t, c.process, "the collector does not run")
	if err := c.process.Process.Signal(signal); err != nil {
		return err
	}
	return c.Wait()
}

func (c *Collector) hasExited() bool {
	select {
	case err := <-c.exited:
		c.exited <- err // for Wait
		return true
	default:
		return false
	}
}

func (c *Collector) cleanup() {
	if c.process != nil {
		if err := c.signal(syscall.SIGINT); err != nil {
			c.t.Errorf("stop the collector: %v", err)
		}
	}
	if c.process != nil {
		_ = syscall.Kill(-c.process.Process.Pid, syscall.SIGKILL)
		_ = c.Wait()
	}
	if c.t.Failed() {
		if text, err := os.ReadFile(c.logFile()); err == nil {
			c.t.Logf("the collector said:\n%s", text[max(0, len(text)-shownLog):])
		}
	}
}

func (c *Collector) logFile() string { return filepath.Join(c.Dir, "collector.log") }

// Query sends one statement to ClickHouse and returns the answer without its last line end.
func (c *Collector) Query(sql string) (string, error) {
	request, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, "http://"+c.SQL+"/", strings.NewReader(sql))
	if err != nil {
		return "", err
	}
	request.SetBasicAuth("default", c.Password)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	answer := strings.TrimSuffix(string(body), "\n")
	if response.StatusCode != http.StatusOK {
		return "", errors.New(response.Status + ": " + answer)
	}
	return answer, nil
}

func port(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

func password() string {
	random := make([]byte, 16)
	_, _ = rand.Read(random) // never fails: see crypto/rand.Read
	return hex.EncodeToString(random)
}
