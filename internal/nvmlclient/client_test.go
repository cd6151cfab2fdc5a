package nvmlclient

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap/zaptest"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/internal/nvmltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	deadline = 20 * time.Second // of a collection whose devices all answer
	soon     = 30 * time.Second // something must come within
	often    = 10 * time.Millisecond
)

// newClient makes a client of the real helper on the fake library, which works fast.
func newClient(t testing.TB, missing ...string) *Client {
	t.Helper()
	c := New(Options{
		HelperPath: nvmltest.Helper(t), LibraryPath: nvmltest.Library(t, missing...), Logger: zaptest.NewLogger(t),
	})
	c.pace.firstRetry, c.pace.longestRetry = 10*time.Millisecond, 50*time.Millisecond
	c.args = []string{"-relist=20ms", "-init-retry=50ms"}
	return c
}

// started starts the client, and stops it after the test.
func started(t testing.TB, c *Client) *Client {
	t.Helper()
	c.Start()
	t.Cleanup(func() { require.NoError(t, c.Shutdown(context.Background())) })
	return c
}

func ask(c *Client) nvml.Snapshot {
	return c.Collect(context.Background(), nvml.Request{Classes: nvml.AllClasses, Deadline: deadline})
}

// eventually collects until the snapshot is as it should be, and returns it.
func eventually(t testing.TB, c *Client, good func(nvml.Snapshot) bool) nvml.Snapshot {
	t.Helper()
	var s nvml.Snapshot
	require.Eventually(t, func() bool {
		s = ask(c)
		return good(s)
	}, soon, often)
	return s
}

func status(want nvml.Status) func(nvml.Snapshot) bool {
	return func(s nvml.Snapshot) bool { return s.Status == want }
}

// states collects until the devices are in these states.
func states(t testing.TB, c *Client, want ...nvml.State) nvml.Snapshot {
	t.Helper()
	return eventually(t, c, func(s nvml.Snapshot) bool {
		if s.Status != nvml.StatusOK || len(s.Devices) != len(want) {
			return false
		}
		for i := range want {
			if s.Devices[i].State != want[i] {
				return false
			}
		}
		return true
	})
}

// nextEvent returns the next event of a kind; others before it are left out.
func nextEvent(t testing.TB, c *Client, kind nvml.EventKind) nvml.Event {
	t.Helper()
	timeout := time.After(soon)
	for {
		select {
		case e := <-c.Events():
			if e.Kind == kind {
				return e
			}
		case <-timeout:
			require.Fail(t, "no event", kind.String())
		}
	}
}

// read returns a device's reading; it must be there, with a value or without.
func read(t testing.TB, d nvml.Device, f nvml.Field, index uint16) nvml.Reading {
	t.Helper()
	for _, r := range d.Readings {
		if r.Field == f && r.Index == index {
			return r
		}
	}
	require.Fail(t, "no reading", "%s[%d] of %v", f, index, d.Key)
	return nvml.Reading{}
}
