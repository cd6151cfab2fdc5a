package wire

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

func header() Header {
	return Header{
		ID: 7, Status: nvml.StatusOK, StatusSince: time.Unix(1_760_000_000, 123), StatusError: "x",
		DriverVersion: "580.65.06", NVMLVersion: "13.580.65.06", CUDAVersion: "13.0",
		Usage: nvml.Usage{PID: 1234, CPU: 15 * time.Millisecond, RSS: 9 << 20, Wake: 1 << 40},
		GPUs:  []GPU{{Index: 0}, {Index: 300, BusySince: time.Unix(1_760_000_001, 0)}},
	}
}

func answer() Answer {
	return Answer{ID: 1 << 60, Index: 3, Devices: []nvml.Device{
		{
			Key: nvml.Key{Index: 3, MIG: -1}, UUID: "GPU-1", Serial: "2", Name: "NVIDIA H200", Brand: "nvidia",
			Architecture: "hopper", PCIBusID: "00000000:1A:00.0", VBIOS: "96", Minor: 3, Mode: "none",
			GPUInstance: -1, ComputeInstance: -1, State: nvml.DeviceOK, StateSince: time.Unix(1, 0), Time: time.Unix(2, 5),
			Wall: time.Millisecond, CPU: time.Microsecond,
			Readings: []nvml.Reading{
				{Field: nvml.PowerUsage, Value: 612345},
				{Field: nvml.NVLinkTxData, Index: 17, Value: 1 << 53},
				{Field: nvml.FanSpeed, Absent: nvml.Unsupported},
				{Field: nvml.GPMSMUtil, Value: -0.5},
			},
			Processes: []nvml.Process{
				{PID: 4_000_000_000, Type: nvml.MPSProcess, HasMemory: true, UsedMemory: 1 << 63, GPUInstance: 7, ComputeInstance: 0},
				{PID: 1, GPUInstance: -1, ComputeInstance: -1},
			},
			ProcessUtilization: []nvml.ProcessSample{
				{PID: 1, Time: time.UnixMicro(1_760_000_000_000_001), SM: 100, Memory: 2, Encoder: 3, Decoder: 4},
			},
		},
		{Key: nvml.Key{Index: 3, MIG: 6, VGPU: 9}, ParentUUID: "GPU-1", MIGProfile: "1g.18gb", State: nvml.DeviceLost, Error: "é\xff"},
	}}
}

func event() nvml.Event {
	return nvml.Event{
		Kind: nvml.EventXid, Time: time.Unix(5, 5), Key: nvml.Key{Index: -1, MIG: -1}, UUID: "u", PCIBusID: "p", Data: 79,
		GPUInstance: 1, ComputeInstance: -1, Text: "t",
	}
}

// frames are one of each kind, with what parses its payload.
func frames() map[string]struct {
	frame []byte
	parse func([]byte) (any, error)
	want  any
} {
	h, a, e := header(), answer(), event()
	return map[string]struct {
		frame []byte
		parse func([]byte) (any, error)
		want  any
	}{
		"hello":  {AppendHello(nil, Hello{Version: Version, Cgo: true}), parser(ParseHello), Hello{Version: Version, Cgo: true}},
		"ask":    {AppendAsk(nil, Ask{ID: 9, Classes: nvml.AllClasses}), parser(ParseAsk), Ask{ID: 9, Classes: nvml.AllClasses}},
		"header": {AppendHeader(nil, &h), parser(ParseHeader), h},
		"answer": {AppendAnswer(nil, &a), parser(ParseAnswer), a},
		"event":  {AppendEvent(nil, &e), parser(ParseEvent), e},
	}
}

func parser[T any](parse func([]byte) (T, error)) func([]byte) (any, error) {
	return func(payload []byte) (any, error) { return parse(payload) }
}

func TestWhatIsSentIsRead(t *testing.T) {
	var stream bytes.Buffer
	for _, f := range frames() {
		stream.Write(f.frame)
	}
	// A map's order differs from loop to loop, so each is read alone as well.
	for name, f := range frames() {
		t.Run(name, func(t *testing.T) {
			kind, payload, _, err := Read(bytes.NewReader(f.frame), nil)
			require.NoError(t, err)
			require.Equal(t, Kind(f.frame[4]), kind)
			got, err := f.parse(payload)
			require.NoError(t, err)
			require.Equal(t, f.want, got)
		})
	}
	buf := []byte(nil)
	for range frames() {
		var err error
		_, _, buf, err = Read(&stream, buf)
		require.NoError(t, err)
	}
	_, _, _, err := Read(&stream, buf)
	require.ErrorIs(t, err, io.EOF)
}

// TestLayout pins the bytes: both sides are built together, yet a change must raise Version.
func TestLayout(t *testing.T) {
	require.Equal(t, []byte{2, 0, 0, 0, byte(KindHello), Version, 1}, AppendHello(nil, Hello{Version: Version, Cgo: true}))
	require.Equal(t, []byte{3, 0, 0, 0, byte(KindAsk), 0x85, 0x01, 3}, AppendAsk(nil, Ask{ID: 133, Classes: 3}))
}

func TestTruncatedIsAnError(t *testing.T) {
	for name, f := range frames() {
		t.Run(name, func(t *testing.T) {
			for n := range len(f.frame) {
				_, _, _, err := Read(bytes.NewReader(f.frame[:n]), nil)
				if n == 0 {
					require.ErrorIs(t, err, io.EOF)
				} else {
					require.ErrorIs(t, err, io.ErrUnexpectedEOF)
				}
			}
			payload := f.frame[headLength:]
			for n := range payload {
				_, err := f.parse(payload[:n])
				require.ErrorIs(t, err, ErrMalformed, "%d bytes of %d", n, len(payload))
			}
			_, err := f.parse(append(bytes.Clone(payload), 0))
			require.ErrorIs(t, err, ErrMalformed)
		})
	}
}

func TestLengthsAreBounded(t *testing.T) {
	head := binary.LittleEndian.AppendUint32(nil, MaxFrame+1)
	_, _, _, err := Read(bytes.NewReader(append(head, byte(KindHello))), nil)
	require.ErrorIs(t, err, ErrTooLong)

	// An answer that claims 2^40 devices in three bytes.
	_, err = ParseAnswer(append([]byte{1, 0}, binary.AppendUvarint(nil, 1<<40)...))
	require.ErrorIs(t, err, ErrMalformed)
}

// TestSmallest holds the bounds of counts to what the smallest elements take.
func TestSmallest(t *testing.T) {
	size := func(d nvml.Device) int { return len(appendDevice(nil, &d)) }
	empty := size(nvml.Device{})
	require.Equal(t, smallestDevice, empty)
	require.Equal(t, empty+smallestReading, size(nvml.Device{Readings: []nvml.Reading{{Absent: nvml.Failed}}}))
	require.Equal(t, empty+smallestProcess, size(nvml.Device{Processes: make([]nvml.Process, 1)}))
	require.Equal(t, empty+smallestSample, size(nvml.Device{ProcessUtilization: make([]nvml.ProcessSample, 1)}))
}

func TestAnotherVersionIsRecognised(t *testing.T) {
	h, err := ParseHello(append(binary.AppendUvarint(nil, Version+1), "anything"...))
	require.NoError(t, err)
	require.Equal(t, Version+1, h.Version)
}

// FuzzParse: what can be parsed is parsed the same after it was written again.
func FuzzParse(f *testing.F) {
	for _, frame := range frames() {
		f.Add(frame.frame[4], frame.frame[headLength:])
	}
	f.Fuzz(func(t *testing.T, kind byte, payload []byte) {
		switch Kind(kind) {
		case KindHeader:
			again(t, payload, ParseHeader, func(h Header) []byte { return AppendHeader(nil, &h) })
		case KindAnswer:
			again(t, payload, ParseAnswer, func(a Answer) []byte { return AppendAnswer(nil, &a) })
		case KindEvent:
			again(t, payload, ParseEvent, func(e nvml.Event) []byte { return AppendEvent(nil, &e) })
		case KindAsk:
			again(t, payload, ParseAsk, func(a Ask) []byte { return AppendAsk(nil, a) })
		}
	})
}

func again[T any](t *testing.T, payload []byte, parse func([]byte) (T, error), write func(T) []byte) {
	v, err := parse(payload)
	if err != nil {
		return
	}
	first := write(v)
	v, err = parse(first[headLength:])
	if err != nil || !bytes.Equal(first, write(v)) {
		t.Fatalf("%v is not what was written", v)
	}
}

// BenchmarkAnswer is of a GPU with 300 readings.
func BenchmarkAnswer(b *testing.B) {
	a := Answer{Devices: []nvml.Device{answer().Devices[0]}}
	a.Devices[0].Readings = make([]nvml.Reading, 300)
	for i := range a.Devices[0].Readings {
		a.Devices[0].Readings[i] = nvml.Reading{Field: nvml.Field(i/4 + 1), Index: uint16(i % 4), Value: float64(i)}
	}
	b.Run("write", func(b *testing.B) {
		var buf []byte
		b.ReportAllocs()
		for b.Loop() {
			buf = AppendAnswer(buf, &a)
		}
		b.SetBytes(int64(len(buf)))
	})
	b.Run("read", func(b *testing.B) {
		payload := AppendAnswer(nil, &a)[headLength:]
		b.SetBytes(int64(len(payload)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ParseAnswer(payload); err != nil {
				b.Fatal(err)
			}
		}
	})
}
