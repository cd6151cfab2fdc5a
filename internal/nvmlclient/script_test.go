package nvmlclient

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/fakenvml"
	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/internal/nvmltest"
)

// otherKeys are not of a reading: names, lists and what is only read through another value.
const otherKeys = `^(name|uuid|serial|vbios|brand|architecture|virtualization|pci|minor|fans|gpm|process.*|events)$`

// TestEveryValueOfTheScriptArrives reads the script by itself and holds it against what came through the library,
// go-nvml, the helper, the pipe and the client: each reading is what its line says, and each line is in a reading.
func TestEveryValueOfTheScriptArrives(t *testing.T) {
	for _, name := range []string{"h100", "consumer"} {
		t.Run(name, func(t *testing.T) {
			script := nvmltest.Profile(t, name)
			nvmltest.Script(t, script)
			c := started(t, newClient(t))
			eventually(t, c, status(nvml.StatusOK))

			lines, used := map[string]string{}, map[string]bool{}
			for _, m := range regexp.MustCompile(`(?m)^gpu\.[*0]\.(\S+?)=(.*)$`).FindAllStringSubmatch(script, -1) {
				if !regexp.MustCompile(otherKeys).MatchString(m[1]) {
					lines[m[1]] = m[2]
				}
			}
			require.Greater(t, len(lines), 35)
			for _, r := range ask(c).Devices[0].Readings {
				key := fakenvml.Key(r.Field, r.Index)
				if r.Absent != nvml.Present || key == "" || strings.HasPrefix(key, "process") {
					continue
				}
				line, ok := lines[key]
				if base := key[:strings.LastIndexByte(key, '.')+1]; !ok && base != "" { // field.138 is of all links
					key = strings.TrimSuffix(base, ".")
					line, ok = lines[key]
				}
				require.True(t, ok, "%s[%d] has no line %s", r.Field, r.Index, key)
				want, err := strconv.ParseFloat(line, 64)
				require.NoError(t, err)
				require.Equal(t, want, r.Value, "%s[%d]", r.Field, r.Index)
				used[key] = true
			}
			for key := range lines {
				require.True(t, used[key], "no reading has %s", key)
			}
		})
	}
}

// TestRecordedMachinesAreTheSame plays a machine, records it, and plays the record.
func TestRecordedMachinesAreTheSame(t *testing.T) {
	play := func(script string, missing ...string) (golden, string) {
		nvmltest.Script(t, script)
		c := newClient(t, missing...)
		c.Start()
		eventually(t, c, status(nvml.StatusOK))
		ask(c) // GPM needs two, and what all NVLinks have is asked for when one does not tell
		s := ask(c)
		require.NoError(t, c.Shutdown(t.Context()))
		return written(anonymous(s)), fakenvml.Record(s)
	}
	for _, name := range fakenvml.Profiles() {
		if name == "moving" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			played, record := play(nvmltest.Profile(t, name), fakenvml.Missing(name)...)
			again, second := play(record, fakenvml.Missing(name)...)
			require.Equal(t, played, again)
			require.Equal(t, record, second)
		})
	}
}

// anonymous leaves out what Record makes up.
func anonymous(s nvml.Snapshot) nvml.Snapshot {
	for i := range s.Devices {
		d := &s.Devices[i]
		d.UUID, d.ParentUUID = "", ""
		if d.Serial != "" {
			d.Serial = "some"
		}
		if d.Key.VGPU != 0 {
			d.Name = ""
		}
	}
	return s
}
