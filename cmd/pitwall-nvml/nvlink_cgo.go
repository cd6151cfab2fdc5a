//go:build linux && cgo

package main

import (
	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

// links is how many NVLinks a GPU has, once that is known.
type links struct {
	known bool
	count int
}

// nvlinks asks for the state of each NVLink, and for the rest of those that are up.
func (s *session) nvlinks(d gonvml.Device, l *links) {
	if !s.wants(nvml.ClassNVLink) {
		return
	}
	if !s.lib.has("nvmlDeviceGetNvLinkState") {
		s.absent(nvml.NVLinkUp, 0, nvml.Unsupported)
		return
	}
	most := gonvml.NVLINK_MAX_LINKS
	if l.known {
		most = l.count
	}
	var up []value
	found := 0
	why := nvml.Unsupported
	for link := range most {
		state, r := d.GetNvLinkState(link)
		if why = s.settle(r); why != nvml.Present {
			break // links are numbered without gaps
		}
		found++
		s.present(nvml.NVLinkUp, uint16(link), float64(state))
		if state == gonvml.FEATURE_ENABLED {
			up = append(up, s.linkValues(uint32(link))...)
		}
	}
	if found == 0 {
		s.absent(nvml.NVLinkUp, 0, why)
	}
	if why == nvml.Present || why == nvml.Unsupported {
		l.known, l.count = true, found
	}
	if len(up) == 0 || s.lost != gonvml.SUCCESS {
		return
	}
	s.ask(d, up)
	s.linkErrors(d, up)
}

// linkValues lists what is asked of a link. GPUs that do not tell a link's speed may tell what all links have.
func (s *session) linkValues(link uint32) []value {
	index := uint16(link)
	speed := value{id: gonvml.FI_DEV_NVLINK_GET_SPEED, scope: link, field: nvml.NVLinkSpeed, index: index}
	if s.memory.values[speed.key()] == nvml.Unsupported {
		speed.id, speed.scope = gonvml.FI_DEV_NVLINK_SPEED_MBPS_COMMON, 0
	}
	return []value{
		speed,
		{id: gonvml.FI_DEV_NVLINK_ERROR_DL_REPLAY, scope: link, field: nvml.NVLinkReplays, index: index},
		{id: gonvml.FI_DEV_NVLINK_ERROR_DL_RECOVERY, scope: link, field: nvml.NVLinkRecovers, index: index},
		{id: gonvml.FI_DEV_NVLINK_ERROR_DL_CRC, scope: link, field: nvml.NVLinkCRC, index: index},
		{id: gonvml.FI_DEV_NVLINK_THROUGHPUT_DATA_TX, scope: link, field: nvml.NVLinkTxData, index: index},
		{id: gonvml.FI_DEV_NVLINK_THROUGHPUT_DATA_RX, scope: link, field: nvml.NVLinkRxData, index: index},
		{id: gonvml.FI_DEV_NVLINK_COUNT_XMIT_BYTES, scope: link, field: nvml.NVLinkTxBytes, index: index},
		{id: gonvml.FI_DEV_NVLINK_COUNT_RCV_BYTES, scope: link, field: nvml.NVLinkRxBytes, index: index},
	}
}

// linkErrors asks GPUs that do not tell errors as values, those before Hopper, with the function that they have.
func (s *session) linkErrors(d gonvml.Device, up []value) {
	if !s.lib.has("nvmlDeviceGetNvLinkErrorCounter") {
		return
	}
	for _, v := range up {
		if v.field != nvml.NVLinkReplays || s.memory.values[v.key()] != nvml.Unsupported {
			continue
		}
		for counter, field := range []nvml.Field{
			nvml.NVLinkReplays, nvml.NVLinkRecovers, nvml.NVLinkCRCFlit, nvml.NVLinkCRCData, nvml.NVLinkECCData,
		} {
			s.linkError(d, int(v.index), gonvml.NvLinkErrorCounter(counter), field)
		}
	}
}

func (s *session) linkError(d gonvml.Device, link int, counter gonvml.NvLinkErrorCounter, field nvml.Field) {
	key := valueKey{field: field, index: uint16(link)}
	if why, known := s.memory.values[key]; known {
		s.replace(nvml.Reading{Field: field, Index: key.index, Absent: why})
		return
	}
	n, r := d.GetNvLinkErrorCounter(link, counter)
	why := s.settle(r)
	if lasting(why) {
		s.memory.values[key] = why
	}
	if why != nvml.Present {
		n = 0
	}
	s.replace(nvml.Reading{Field: field, Index: key.index, Absent: why, Value: float64(n)})
}

// replace puts v in the place of what was found before for the same.
func (s *session) replace(v nvml.Reading) {
	for i := range s.readings {
		if s.readings[i].Field == v.Field && s.readings[i].Index == v.Index {
			s.readings[i] = v
			return
		}
	}
	s.readings = append(s.readings, v)
}
