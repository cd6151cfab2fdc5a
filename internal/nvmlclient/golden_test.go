package nvmlclient

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/fakenvml"
	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/internal/nvmltest"
)

var update = flag.Bool("update", false, "write the golden files")

// golden is a snapshot as it is written down: what differs from run to run is left out, and of many GPUs that are equal
// but for their names only the first one's readings are there.
type golden struct {
	Status                     nvml.Status
	DriverVersion, NVMLVersion string
	CUDAVersion                string
	Devices                    []string
	First                      []goldenDevice
}

type goldenDevice struct {
	Device    nvml.Device
	Readings  map[string]string
	Processes []string
	Used      []string
}

func TestSnapshotsOfMachines(t *testing.T) {
	for _, name := range fakenvml.Profiles() {
		if name == "moving" { // lines for behind another
			continue
		}
		t.Run(name, func(t *testing.T) {
			nvmltest.Script(t, nvmltest.Profile(t, name))
			c := started(t, newClient(t, fakenvml.Missing(name)...))
			eventually(t, c, status(nvml.StatusOK))
			got, err := json.MarshalIndent(written(ask(c)), "", "  ") // the second time: GPM needs two
			require.NoError(t, err)
			path := filepath.Join("testdata", name+".json")
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(path, append(got, '\n'), 0o600))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got)+"\n")
			require.Empty(t, c.Events())
		})
	}
}

func written(s nvml.Snapshot) golden {
	g := golden{Status: s.Status, DriverVersion: s.DriverVersion, NVMLVersion: s.NVMLVersion, CUDAVersion: s.CUDAVersion}
	for _, d := range s.Devices {
		g.Devices = append(g.Devices, fmt.Sprintf("%d/%d/%d %s %s %s", d.Key.Index, d.Key.MIG, d.Key.VGPU, d.UUID, d.Name, d.State))
		if d.Key.Index == 0 {
			g.First = append(g.First, writtenDevice(d))
		}
	}
	return g
}

func writtenDevice(d nvml.Device) goldenDevice {
	g := goldenDevice{Device: identityOf(&d), Readings: map[string]string{}}
	g.Device.StateSince = time.Time{}
	for _, r := range d.Readings {
		text := r.Absent.String()
		if r.Absent == nvml.Present {
			text = strconv.FormatFloat(r.Value, 'f', -1, 64)
		}
		if several(d.Readings, r.Field) {
			text = strings.TrimSpace(g.Readings[r.Field.String()] + " " + strconv.Itoa(int(r.Index)) + "=" + text)
		}
		g.Readings[r.Field.String()] = text
	}
	for _, p := range d.Processes {
		g.Processes = append(g.Processes, fmt.Sprintf("pid %d type %d memory %d %v instances %d %d",
			p.PID, p.Type, p.UsedMemory, p.HasMemory, p.GPUInstance, p.ComputeInstance))
	}
	for _, p := range d.ProcessUtilization {
		g.Used = append(g.Used, fmt.Sprintf("pid %d: %d %d %d %d", p.PID, p.SM, p.Memory, p.Encoder, p.Decoder))
	}
	return g
}

func several(readings []nvml.Reading, f nvml.Field) bool {
	n := 0
	for _, r := range readings {
		if r.Field == f {
			n++
		}
	}
	return n > 1
}
