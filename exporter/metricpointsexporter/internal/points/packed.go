package points

import "encoding/binary"

// packed is a column of whole numbers: the least of them, and each one's distance from it in as few bytes as the
// greatest distance needs. In one request most columns are constant or nearly so, which costs no bytes or one a row
// where plain columns would cost eight; what is not written needs no checksum, no disk and no reading back.
//
//	u8 width (0, 1, 2, 4 or 8), u64 least, n × width bytes
type packed struct {
	least uint64
	width int
	data  []byte
}

func appendPacked[T uint16 | uint32 | uint64 | int64](dst []byte, values []T) []byte {
	var least, greatest T
	if len(values) > 0 {
		least, greatest = values[0], values[0]
	}
	for _, v := range values {
		least, greatest = min(least, v), max(greatest, v)
	}
	le, low := binary.LittleEndian, uint64(least)
	width := widthOf(uint64(greatest) - low)
	dst = le.AppendUint64(append(dst, byte(width)), low)
	switch width {
	case 1:
		for _, v := range values {
			dst = append(dst, byte(uint64(v)-low))
		}
	case 2:
		for _, v := range values {
			dst = le.AppendUint16(dst, uint16(uint64(v)-low))
		}
	case 4:
		for _, v := range values {
			dst = le.AppendUint32(dst, uint32(uint64(v)-low))
		}
	case 8:
		for _, v := range values {
			dst = le.AppendUint64(dst, uint64(v)-low)
		}
	}
	return dst
}

func widthOf(distance uint64) int {
	switch {
	case distance == 0:
		return 0
	case distance < 1<<8:
		return 1
	case distance < 1<<16:
		return 2
	case distance < 1<<32:
		return 4
	default:
		return 8
	}
}

// at returns number i. Distances wrap, so negative numbers come back as they were.
func (p *packed) at(i int) uint64 {
	switch p.width {
	case 0:
		return p.least
	case 1:
		return p.least + uint64(p.data[i])
	case 2:
		return p.least + uint64(binary.LittleEndian.Uint16(p.data[i*2:]))
	case 4:
		return p.least + uint64(binary.LittleEndian.Uint32(p.data[i*4:]))
	default:
		return p.least + binary.LittleEndian.Uint64(p.data[i*8:])
	}
}

// allBelow reports whether n numbers are indexes into a list of that length.
func (p *packed) allBelow(n, limit int) bool {
	if p.width == 0 {
		return n == 0 || p.least < uint64(limit)
	}
	for i := range n {
		if p.at(i) >= uint64(limit) {
			return false
		}
	}
	return true
}
