package nvmlclient

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/internal/nvmltest"
)

// two is a machine of two GPUs with little to tell.
const two = "count=2\ngpu.*.uuid=GPU-%g\ngpu.*.pci=0000:%g:00.0\ngpu.*.power=1000\ngpu.*.events=65439\n"

func TestInitFails(t *testing.T) {
	for code, want := range map[int]nvml.Status{
		9:   nvml.StatusNoDriver,
		18:  nvml.StatusVersionMismatch,
		4:   nvml.StatusNoPermission,
		999: nvml.StatusInitFailed,
	} {
		t.Run(string(want), func(t *testing.T) {
			replace := nvmltest.Script(t, two, fmt.Sprintf("init=%d", code))
			c := newClient(t)
			c.args = []string{"-init-retry=300ms"}
			started(t, c)
			s := eventually(t, c, status(want))
			require.NotEmpty(t, s.StatusError)
			require.Empty(t, s.Devices)
			replace(two)
			states(t, c, nvml.DeviceOK, nvml.DeviceOK)
		})
	}
}

// TestStatusWhileInitIsTriedAgain holds the reason while the helper is started anew, which a driver that cannot start needs
// again and again: it is one trouble, not two in turn.
func TestStatusWhileInitIsTriedAgain(t *testing.T) {
	nvmltest.Script(t, two, "init=9")
	c := newClient(t)
	c.args = []string{"-init-retry=20ms"}
	started(t, c)
	first := eventually(t, c, status(nvml.StatusNoDriver))
	eventually(t, c, func(s nvml.Snapshot) bool {
		assert.Contains(t, []nvml.Status{nvml.StatusNoDriver, nvml.StatusStarting}, s.Status, s.StatusError)
		if s.Status == nvml.StatusNoDriver {
			assert.Equal(t, first.StatusError, s.StatusError)
		}
		return s.Restarts > 3
	})
	require.Empty(t, c.Events(), "trying again is no news")
}

func TestInitHangs(t *testing.T) {
	replace := nvmltest.Script(t, two, "init_hang=0")
	c := newClient(t)
	c.pace.initPatience = 50 * time.Millisecond
	started(t, c)
	eventually(t, c, status(nvml.StatusStarting))
	eventually(t, c, status(nvml.StatusInitHung))
	replace(two)
	s := states(t, c, nvml.DeviceOK, nvml.DeviceOK)
	require.Zero(t, s.Restarts)
}

func TestInitThatHangsForLongIsStartedAnew(t *testing.T) {
	nvmltest.Script(t, two, "init_hang=0")
	c := newClient(t)
	c.pace.initPatience, c.pace.initGivesUp = 10*time.Millisecond, 100*time.Millisecond
	started(t, c)
	s := eventually(t, c, func(s nvml.Snapshot) bool { return s.Restarts > 0 && s.Status == nvml.StatusNoHelper })
	require.Contains(t, s.StatusError, "did not start within 100ms")
}

func TestDriverArrivesLater(t *testing.T) {
	nvmltest.Script(t, two)
	path := filepath.Join(t.TempDir(), "libnvidia-ml.so.1")
	c := newClient(t)
	c.options.LibraryPath = path
	started(t, c)
	s := eventually(t, c, status(nvml.StatusNoLibrary))
	require.Equal(t, "libnvidia-ml.so.1 cannot be loaded", s.StatusError)
	require.NoError(t, os.Symlink(nvmltest.Library(t), path))
	s = states(t, c, nvml.DeviceOK, nvml.DeviceOK)
	require.Zero(t, s.Restarts)
}

func TestOneGPUHangs(t *testing.T) {
	replace := nvmltest.Script(t, two)
	c := started(t, newClient(t))
	states(t, c, nvml.DeviceOK, nvml.DeviceOK)

	replace(two, "gpu.1.hang=0")
	require.Eventually(t, func() bool { // the first that finds it waits until its deadline
		s := c.Collect(context.Background(), nvml.Request{Classes: nvml.AllClasses, Deadline: 200 * time.Millisecond})
		return len(s.Devices) == 2 && s.Devices[1].State == nvml.DeviceStale
	}, soon, often)
	require.Equal(t, nvml.Key{Index: 1, MIG: -1}, nextEvent(t, c, nvml.EventStale).Key)

	// From then on it is not asked, so nobody waits: this returns although the deadline is far away.
	s := c.Collect(context.Background(), nvml.Request{Classes: nvml.AllClasses, Deadline: 5 * soon})
	require.Less(t, s.Wall, 5*soon)
	stale := s.Devices[1]
	require.Equal(t, nvml.DeviceStale, stale.State)
	require.Equal(t, "the driver does not answer", stale.Error)
	require.Equal(t, "GPU-01", stale.UUID)
	require.Empty(t, stale.Readings)
	require.False(t, stale.StateSince.IsZero())
	require.Less(t, stale.StateSince, s.Time)
	require.Equal(t, 1000.0, read(t, s.Devices[0], nvml.PowerUsage, 0).Value)

	replace(two, "gpu.*.power=2000")
	s = states(t, c, nvml.DeviceOK, nvml.DeviceOK)
	require.Equal(t, 2000.0, read(t, s.Devices[1], nvml.PowerUsage, 0).Value)
	require.Equal(t, "GPU-01", nextEvent(t, c, nvml.EventAnswers).UUID)
}

func TestShutdownWhileAGPUHangs(t *testing.T) {
	nvmltest.Script(t, two, "gpu.0.hang=0")
	c := newClient(t)
	c.Start()
	require.Eventually(t, func() bool {
		s := c.Collect(context.Background(), nvml.Request{Classes: nvml.AllClasses, Deadline: 50 * time.Millisecond})
		return len(s.Devices) == 2 && s.Devices[0].State == nvml.DeviceStale
	}, soon, often)
	require.NoError(t, c.Shutdown(context.Background()))
	_, open := <-drained(c.Events())
	require.False(t, open)
}

func drained(events <-chan nvml.Event) <-chan nvml.Event {
	for {
		if _, open := <-events; !open {
			return events
		}
	}
}

func TestGPUIsLostAndComesBack(t *testing.T) {
	replace := nvmltest.Script(t, two)
	c := started(t, newClient(t))
	states(t, c, nvml.DeviceOK, nvml.DeviceOK)
	replace(two, "gpu.0.lost=0")
	s := states(t, c, nvml.DeviceLost, nvml.DeviceOK)
	require.Equal(t, "GPU is lost", s.Devices[0].Error)
	require.Equal(t, "GPU-00", s.Devices[0].UUID)
	require.Empty(t, s.Devices[0].Readings)
	e := nextEvent(t, c, nvml.EventLost)
	require.Equal(t, "GPU-00", e.UUID)
	require.Equal(t, "GPU is lost", e.Text)
	replace(two)
	states(t, c, nvml.DeviceOK, nvml.DeviceOK)
	require.Equal(t, "GPU-00", nextEvent(t, c, nvml.EventFound).UUID)
}

func TestLostGPUIsLookedForWithAFreshDriver(t *testing.T) {
	nvmltest.Script(t, two, "gpu.0.lost=0")
	c := newClient(t)
	c.args = append(c.args, "-lost-retry=50ms")
	started(t, c)
	eventually(t, c, func(s nvml.Snapshot) bool { return s.Restarts > 0 && s.Status == nvml.StatusOK })
	require.Contains(t, nextEvent(t, c, nvml.EventHelperStarted).Text, "GPU 0 is lost")
}

func TestGPUsVanishAndAppear(t *testing.T) {
	replace := nvmltest.Script(t, two)
	c := started(t, newClient(t))
	states(t, c, nvml.DeviceOK, nvml.DeviceOK)
	replace(two, "count=3")
	states(t, c, nvml.DeviceOK, nvml.DeviceOK, nvml.DeviceOK)
	require.Equal(t, "GPU-02", nextEvent(t, c, nvml.EventFound).UUID)
	// The first GPU vanishes, and the driver numbers the others anew.
	replace(two, "gpu.0.uuid=GPU-01", "gpu.0.pci=0000:01:00.0", "gpu.1.uuid=GPU-02", "gpu.1.pci=0000:02:00.0")
	s := eventually(t, c, func(s nvml.Snapshot) bool {
		return len(s.Devices) == 2 && s.Devices[0].UUID == "GPU-01" && s.Devices[1].UUID == "GPU-02"
	})
	require.Equal(t, nvml.DeviceOK, s.Devices[0].State)
	require.Equal(t, "GPU-00", nextEvent(t, c, nvml.EventLost).UUID)
}

func TestWithoutPermission(t *testing.T) {
	nvmltest.Script(t, two, "gpu.1.handle=4", "gpu.0.energy=fail(4)", "gpu.0.processes.c=fail(4)", "gpu.0.field.82=fail(4)")
	c := started(t, newClient(t))
	s := states(t, c, nvml.DeviceOK, nvml.DeviceError)
	for _, f := range []nvml.Field{nvml.Energy, nvml.ComputeProcesses, nvml.TemperatureMemory} {
		require.Equal(t, nvml.NoPermission, read(t, s.Devices[0], f, 0).Absent, f)
	}
	require.Equal(t, "Insufficient Permissions", s.Devices[1].Error)
	require.Equal(t, nvml.Key{Index: 1, MIG: -1}, s.Devices[1].Key)
}

func TestReasonsOfAbsence(t *testing.T) {
	for code, want := range map[int]nvml.Absent{
		2: nvml.Unsupported, 3: nvml.Unsupported, 13: nvml.Unsupported, 25: nvml.Unsupported, 4: nvml.NoPermission,
		10: nvml.TimedOut, 21: nvml.NotYet, 999: nvml.Failed, 17: nvml.Failed,
	} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			nvmltest.Script(t, two, fmt.Sprintf("gpu.*.power=fail(%d)\ngpu.*.field.82=fail(%d)", code, code))
			c := started(t, newClient(t))
			s := states(t, c, nvml.DeviceOK, nvml.DeviceOK)
			require.Equal(t, want, read(t, s.Devices[0], nvml.PowerUsage, 0).Absent)
			require.Equal(t, want, read(t, s.Devices[0], nvml.TemperatureMemory, 0).Absent)
		})
	}
}

func TestDoubledUUIDs(t *testing.T) {
	nvmltest.Script(t, two, "gpu.*.uuid=GPU-same", "gpu.*.pci=0000:00:00.0", "gpu.1.power=7")
	c := started(t, newClient(t))
	states(t, c, nvml.DeviceOK, nvml.DeviceOK)
	s := ask(c)
	require.Equal(t, 0, s.Devices[0].Key.Index)
	require.Equal(t, 1, s.Devices[1].Key.Index)
	require.Equal(t, 7.0, read(t, s.Devices[1], nvml.PowerUsage, 0).Value)
	require.Empty(t, c.Events(), "nothing changed")
}

func TestGarbageStrings(t *testing.T) {
	endless := strings.Repeat("A", 5000)
	nvmltest.Script(t, two, `gpu.*.uuid=GPU\xff\xfe\x01`, "gpu.*.name="+endless, "gpu.*.serial="+endless, "gpu.*.pci="+endless,
		`gpu.*.vbios=\x1b\x5b31m`, "driver="+endless)
	c := started(t, newClient(t))
	s := states(t, c, nvml.DeviceOK, nvml.DeviceOK)
	d := s.Devices[0]
	require.Equal(t, "GPU\uFFFD\uFFFD", d.UUID)
	require.Equal(t, "\uFFFD[31m", d.VBIOS)
	for _, text := range []string{d.Name, d.Serial, d.PCIBusID, s.DriverVersion} {
		require.True(t, utf8.ValidString(text))
		require.Regexp(t, `^A{20,256}$`, text)
	}
}

// TestUnsupportedIsNotAskedForAgain lets the driver change its mind, which the helper finds out ten minutes later, or at
// once when the GPU is another one.
func TestUnsupportedIsNotAskedForAgain(t *testing.T) {
	replace := nvmltest.Script(t, two, "gpu.*.power=fail(3)\ngpu.*.field.82=fail(3)\ngpu.*.energy=fail(10)")
	c := started(t, newClient(t))
	states(t, c, nvml.DeviceOK, nvml.DeviceOK)
	replace(two, "gpu.*.field.82=60\ngpu.*.energy=7\ngpu.1.uuid=GPU-other")
	s := eventually(t, c, func(s nvml.Snapshot) bool { return s.Devices[1].UUID == "GPU-other" })
	require.Equal(t, nvml.Unsupported, read(t, s.Devices[0], nvml.PowerUsage, 0).Absent)
	require.Equal(t, nvml.Unsupported, read(t, s.Devices[0], nvml.TemperatureMemory, 0).Absent)
	require.Equal(t, 7.0, read(t, s.Devices[0], nvml.Energy, 0).Value, "a timeout passes")
	require.Equal(t, 1000.0, read(t, s.Devices[1], nvml.PowerUsage, 0).Value)
	require.Equal(t, 60.0, read(t, s.Devices[1], nvml.TemperatureMemory, 0).Value)
}

func TestMovingValues(t *testing.T) {
	nvmltest.Script(t, two, "gpu.*.energy=rate(100,1000000)\ngpu.*.power=sine(500,100,0.1)\ngpu.*.temperature=at(0,1,2)",
		"gpu.*.field.197=wrap(4294967290,100000000000,4294967296)")
	c := started(t, newClient(t))
	states(t, c, nvml.DeviceOK, nvml.DeviceOK)
	energy, wrapped := 100.0, false
	for range 10 {
		d := ask(c).Devices[0]
		next := read(t, d, nvml.Energy, 0).Value
		require.Greater(t, next, energy)
		energy = next
		require.InDelta(t, 500, read(t, d, nvml.PowerUsage, 0).Value, 100)
		require.Equal(t, 2.0, read(t, d, nvml.TemperatureGPU, 0).Value)
		sent := read(t, d, nvml.PCIeTxBytes, 0).Value
		require.GreaterOrEqual(t, sent, 0.0)
		require.Less(t, sent, float64(1<<32))
		wrapped = wrapped || sent < 4294967290
	}
	require.True(t, wrapped)
}

// A sample of GPM that could not be taken is not compared with: the next one is, with the last that was.
func TestGPMSampleFails(t *testing.T) {
	script := nvmltest.Profile(t, "h100")
	replace := nvmltest.Script(t, script)
	c := started(t, newClient(t))
	absence := func(want nvml.Absent) {
		t.Helper()
		eventually(t, c, func(s nvml.Snapshot) bool {
			return s.Status == nvml.StatusOK && read(t, s.Devices[0], nvml.GPMSMUtil, 0).Absent == want
		})
	}
	absence(nvml.Present)
	replace(script, "gpu.*.gpm_sample=fail(10)")
	absence(nvml.TimedOut)
	replace(script)
	absence(nvml.Present) // a comparison with nothing would be said to be unsupported, for ten minutes
}

func TestSlowDriver(t *testing.T) {
	nvmltest.Script(t, two, "latency_us=100")
	c := started(t, newClient(t))
	s := states(t, c, nvml.DeviceOK, nvml.DeviceOK)
	require.Positive(t, s.Devices[0].Wall)
	require.LessOrEqual(t, s.Devices[0].CPU, s.Devices[0].Wall)
}

func TestOnlyWhatIsAskedFor(t *testing.T) {
	nvmltest.Script(t, nvmltest.Profile(t, "h100"))
	c := started(t, newClient(t))
	eventually(t, c, status(nvml.StatusOK))
	for class := nvml.Class(1); class < nvml.AllClasses; class <<= 1 {
		s := c.Collect(context.Background(), nvml.Request{Classes: class, Deadline: deadline})
		require.NotEmpty(t, s.Devices[0].Readings)
		for _, r := range s.Devices[0].Readings {
			require.Equal(t, class, r.Field.Class(), r.Field)
		}
	}
}

func TestWithoutCgo(t *testing.T) {
	c := New(Options{HelperPath: nvmltest.HelperWithoutCgo(t), Logger: zaptest.NewLogger(t)})
	started(t, c)
	s := eventually(t, c, status(nvml.StatusNoCgo))
	require.Equal(t, "built without cgo", s.StatusError)
	require.Empty(t, s.Devices)
}
