package nvmlclient

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/internal/nvml/wire"
)

func gpu(index int, uuid string, state nvml.State) nvml.Device {
	d := nvml.Device{Key: nvml.Key{Index: index, MIG: -1}, UUID: uuid, State: state}
	if uuid != "" {
		d.PCIBusID = "bus of " + uuid
	}
	return d
}

func migOn(index, mig int, uuid string) nvml.Device {
	return nvml.Device{Key: nvml.Key{Index: index, MIG: mig}, UUID: uuid, State: nvml.DeviceOK}
}

// TestChanges follows two snapshots and holds what changed between them against what must be told.
func TestChanges(t *testing.T) {
	type devices []nvml.Device
	ok, stale, lost, failed := nvml.DeviceOK, nvml.DeviceStale, nvml.DeviceLost, nvml.DeviceError
	for name, tt := range map[string]struct {
		before, after devices
		want          []string
	}{
		"nothing":         {devices{gpu(0, "a", ok)}, devices{gpu(0, "a", ok)}, nil},
		"found":           {devices{gpu(0, "a", ok)}, devices{gpu(0, "a", ok), gpu(1, "b", ok)}, []string{"found b"}},
		"gone":            {devices{gpu(0, "a", ok), gpu(1, "b", ok)}, devices{gpu(0, "a", ok)}, []string{"lost b"}},
		"lost":            {devices{gpu(0, "a", ok)}, devices{gpu(0, "a", lost)}, []string{"lost a"}},
		"still lost":      {devices{gpu(0, "a", lost)}, devices{gpu(0, "a", lost)}, nil},
		"lost, then gone": {devices{gpu(0, "a", lost)}, devices{}, nil},
		"back":            {devices{gpu(0, "a", lost)}, devices{gpu(0, "a", ok)}, []string{"found a"}},
		"hangs":           {devices{gpu(0, "a", ok)}, devices{gpu(0, "a", stale)}, []string{"stale a"}},
		"answers":         {devices{gpu(0, "a", stale)}, devices{gpu(0, "a", ok)}, []string{"answers a"}},
		"hangs, lost":     {devices{gpu(0, "a", stale)}, devices{gpu(0, "a", lost)}, []string{"lost a"}},
		"an error":        {devices{gpu(0, "a", ok)}, devices{gpu(0, "a", failed)}, nil},
		"hung from the beginning": {
			devices{gpu(0, "", stale)}, devices{gpu(0, "a", ok)}, []string{"answers a"},
		},
		"exchanged": {devices{gpu(0, "a", ok)}, devices{gpu(0, "b", ok)}, []string{"found b", "lost a"}},
		"numbered anew": {
			devices{gpu(0, "a", ok), gpu(1, "b", ok), gpu(2, "c", ok)}, devices{gpu(0, "b", ok), gpu(1, "c", ok)}, []string{"lost a"},
		},
		"doubled UUIDs": {
			devices{gpu(0, "a", ok), gpu(1, "a", ok)}, devices{gpu(0, "a", ok), gpu(1, "a", lost)}, []string{"lost a"},
		},
		"MIG devices": {
			devices{gpu(0, "a", ok), migOn(0, 0, "x"), migOn(0, 1, "y")},
			devices{gpu(0, "a", ok), migOn(0, 0, "x")},
			[]string{"mig_changed a"},
		},
		"MIG devices of a lost GPU are not known": {
			devices{gpu(0, "a", ok), migOn(0, 0, "x")}, devices{gpu(0, "a", lost)}, []string{"lost a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var tracker tracker
			require.Empty(t, tracker.follow(tt.before, time.Unix(1, 0)), "the first changes nothing")
			var got []string
			for _, e := range tracker.follow(tt.after, time.Unix(2, 0)) {
				require.Equal(t, time.Unix(2, 0), e.Time)
				got = append(got, e.Kind.String()+" "+e.UUID)
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestSinceWhen(t *testing.T) {
	var tracker tracker
	at := func(second int64, state nvml.State, since time.Time) time.Time {
		d := gpu(0, "a", state)
		d.StateSince = since
		devices := []nvml.Device{d}
		tracker.follow(devices, time.Unix(second, 0))
		return devices[0].StateSince
	}
	require.Equal(t, time.Unix(1, 0), at(1, nvml.DeviceOK, time.Time{}))
	require.Equal(t, time.Unix(1, 0), at(2, nvml.DeviceOK, time.Time{}))
	require.Equal(t, time.Unix(3, 0), at(4, nvml.DeviceStale, time.Unix(3, 0)), "since it was asked")
	require.Equal(t, time.Unix(3, 0), at(5, nvml.DeviceStale, time.Unix(3, 500)))
	require.Equal(t, time.Unix(6, 0), at(6, nvml.DeviceLost, time.Time{}))
}

func TestSilentGPUsAreWhatTheyWere(t *testing.T) {
	asked := time.Unix(10, 0)
	x := &exchange{
		header: &wire.Header{GPUs: []wire.GPU{{Index: 0}, {Index: 1, BusySince: time.Unix(5, 0)}, {Index: 2}}},
		answers: map[int][]nvml.Device{
			0: {gpu(0, "a", nvml.DeviceOK)},
		},
	}
	known := map[int][]nvml.Device{1: {gpu(1, "b", nvml.DeviceOK), migOn(1, 0, "x")}}
	got := devicesOf(x, known, asked)
	require.Len(t, got, 4)
	require.Equal(t, nvml.DeviceOK, got[0].State)
	for i, want := range []struct {
		key   nvml.Key
		uuid  string
		since time.Time
	}{
		{nvml.Key{Index: 1, MIG: -1}, "b", time.Unix(5, 0)},
		{nvml.Key{Index: 1, MIG: 0}, "x", time.Unix(5, 0)},
		{nvml.Key{Index: 2, MIG: -1}, "", asked},
	} {
		d := got[i+1]
		require.Equal(t, nvml.DeviceStale, d.State)
		require.Equal(t, want.key, d.Key)
		require.Equal(t, want.uuid, d.UUID)
		require.Equal(t, want.since, d.StateSince)
	}
	require.Equal(t, nvml.DeviceOK, known[1][0].State, "what is known is not changed")
}
