package nvmlclient

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/internal/nvml/wire"
)

// silentRequests is how many requests in a row without any answer get the helper killed: it does not even run.
const silentRequests = 3

// Collect returns what the driver tells by the request's deadline, or by the end of ctx. GPUs that have not answered by
// then are stale, and have no readings.
func (c *Client) Collect(ctx context.Context, request nvml.Request) nvml.Snapshot {
	started := time.Now()
	ctx, cancel := context.WithDeadline(ctx, started.Add(request.Deadline))
	defer cancel()
	select {
	case c.asking <- struct{}{}:
		defer func() { <-c.asking }()
	case <-ctx.Done():
		return nvml.Snapshot{
			Status: nvml.StatusStarting, StatusSince: started, StatusError: "another collection is under way",
			Time: started, Wall: time.Since(started),
		}
	}
	snapshot := c.collect(ctx, request, started)
	snapshot.Time, snapshot.Wall = started, time.Since(started)
	return snapshot
}

func (c *Client) collect(ctx context.Context, request nvml.Request, started time.Time) nvml.Snapshot {
	c.mu.Lock()
	h := c.helper
	snapshot := nvml.Snapshot{Status: nvml.StatusStarting, StatusSince: c.since, Restarts: c.restarts}
	c.without(&snapshot, c.down)
	c.mu.Unlock()
	if h == nil || !h.ready() {
		return snapshot
	}
	c.nextID++
	x, err := h.ask(ctx, wire.Ask{ID: c.nextID, Classes: request.Classes})
	select {
	case <-h.gone: // in the middle of it
		c.mu.Lock()
		c.without(&snapshot, h.exit())
		c.mu.Unlock()
		return snapshot
	default:
	}
	if err != nil || x.header == nil {
		c.noAnswer(h, &snapshot, started)
		return snapshot
	}
	c.silent = 0
	c.answers(h, x.header)
	fill(&snapshot, x.header)
	if snapshot.Status == nvml.StatusStarting {
		c.initialising(h, &snapshot)
	}
	if snapshot.Status == nvml.StatusOK {
		snapshot.Devices = devicesOf(x, c.tracker.known, started)
		for _, e := range c.tracker.follow(snapshot.Devices, time.Now()) {
			c.emit(e)
		}
	}
	return snapshot
}

// fill takes over what the header says.
func fill(s *nvml.Snapshot, header *wire.Header) {
	s.Status, s.StatusSince, s.StatusError = header.Status, header.StatusSince, header.StatusError
	s.DriverVersion, s.NVMLVersion, s.CUDAVersion = header.DriverVersion, header.NVMLVersion, header.CUDAVersion
	s.Helper = header.Usage
}

// answered is the last thing that a helper said of the driver, but that it starts.
type answered struct {
	status nvml.Status
	since  time.Time
	err    string
}

// answers notes that the helper works, and what it says of the driver.
func (c *Client) answers(h *helper, header *wire.Header) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.helper == h {
		c.down = end{}
	}
	if header.Status != nvml.StatusStarting {
		c.last = answered{header.Status, header.StatusSince, header.StatusError}
	}
}

// retries says that a helper ended only to try a driver again that cannot start. That is no news: it goes on for as long as
// the driver is so.
func (c *Client) retries(e end) bool {
	return e.again && c.last.status != nvml.StatusOK && c.last.status != ""
}

// without says in s why there is no helper, if so.
func (c *Client) without(s *nvml.Snapshot, e end) {
	switch {
	case e.why == "":
	case c.retries(e):
		s.Status, s.StatusSince, s.StatusError = c.last.status, c.last.since, c.last.err
	default:
		s.Status, s.StatusError = nvml.StatusNoHelper, e.why
	}
}

// noAnswer is for a helper that said nothing at all, which it does even when the driver hangs.
func (c *Client) noAnswer(h *helper, snapshot *nvml.Snapshot, started time.Time) {
	if snapshot.Status != nvml.StatusNoHelper {
		snapshot.Status, snapshot.StatusSince = nvml.StatusNoHelper, started
		snapshot.StatusError = helperName + " does not answer"
	}
	if c.silent++; c.silent >= silentRequests {
		c.silent = 0
		h.end(fmt.Errorf("%d requests in a row were not answered", silentRequests))
	}
}

// initialising is for a driver that has not started yet.
func (c *Client) initialising(h *helper, snapshot *nvml.Snapshot) {
	took := time.Since(snapshot.StatusSince)
	if took > c.pace.initPatience {
		snapshot.Status = nvml.StatusInitHung
		snapshot.StatusError = "the driver does not come back from nvmlInit"
	}
	if took > c.pace.initGivesUp {
		h.end(fmt.Errorf("the driver did not start within %s", c.pace.initGivesUp))
	}
}

// ask sends a request and waits for the header and for each GPU that it lists as asked, as long as ctx allows.
func (h *helper) ask(ctx context.Context, ask wire.Ask) (*exchange, error) {
	x := &exchange{id: ask.ID, answers: map[int][]nvml.Device{}, news: make(chan struct{}, 1)}
	h.mu.Lock()
	h.exchange = x
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		h.exchange = nil
		h.mu.Unlock()
	}()
	if deadline, ok := ctx.Deadline(); ok {
		_ = h.in.SetWriteDeadline(deadline)
	}
	if _, err := h.in.Write(wire.AppendAsk(nil, ask)); err != nil {
		if !errors.Is(err, os.ErrDeadlineExceeded) { // it has ended, and how is about to be known
			select {
			case <-h.gone:
			case <-ctx.Done():
			}
		}
		return x, err
	}
	for !h.complete(x) {
		select {
		case <-x.news:
		case <-h.gone:
			return x, nil
		case <-ctx.Done():
			return x, nil
		}
	}
	return x, nil
}

func (h *helper) complete(x *exchange) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if x.header == nil {
		return false
	}
	for _, g := range x.header.GPUs {
		if _, answered := x.answers[g.Index]; !answered && g.BusySince.IsZero() {
			return false
		}
	}
	return true
}

// end kills the helper for a reason.
func (h *helper) end(why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.broken == nil {
		h.broken = why
	}
	_ = h.cmd.Process.Kill()
}

// devicesOf puts together what the GPUs answered, and what is known of those that did not.
func devicesOf(x *exchange, known map[int][]nvml.Device, asked time.Time) []nvml.Device {
	var devices []nvml.Device
	for _, g := range x.header.GPUs {
		if answer, ok := x.answers[g.Index]; ok && len(answer) > 0 {
			devices = append(devices, answer...)
			continue
		}
		since := g.BusySince
		if since.IsZero() {
			since = asked
		}
		devices = append(devices, staleDevices(g.Index, known[g.Index], since)...)
	}
	return devices
}

// staleDevices is a GPU that does not answer, with the MIG devices and virtual GPUs that it had.
func staleDevices(index int, known []nvml.Device, since time.Time) []nvml.Device {
	if len(known) == 0 {
		known = []nvml.Device{{
			Key: nvml.Key{Index: index, MIG: -1}, Minor: -1, GPUInstance: -1, ComputeInstance: -1,
		}}
	}
	stale := make([]nvml.Device, len(known))
	for i, d := range known {
		d.State, d.StateSince, d.Error = nvml.DeviceStale, since, "the driver does not answer"
		stale[i] = d
	}
	return stale
}
