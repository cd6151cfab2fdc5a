package wal

import (
	"encoding/binary"
	"hash/crc32"
)

// A log is a directory of segment files NNNNNNNNNNNNNNNN.seg (decimal number,
// ascending, never used twice with the same log id). A segment is a sequence of
// records, each starting at a multiple of 8 bytes, integers little-endian:
//
//	 0  u16  magic
//	 2  u8   format version
//	 3  u8   type: 1 snapshot, 2 data, 3 cut, 4 done
//	 4  u32  rows (data only)
//	 8  u32  payload length in bytes
//	12  u32  time, seconds since 1970
//	16  u32  crc32c of the payload
//	20  u32  crc32c of bytes 0..19, continuing from a seed made of the log id,
//	         the segment number and the record's own offset (snapshot: from 0)
//	24  payload, then zeros up to the next multiple of 8
//
// Offset and seed in the header's checksum bind a record to its place: bytes
// left by another file, and payloads that look like records, are not taken for
// records when reading starts again behind a damaged spot.
//
// The first record is the snapshot, durable before the file gets its name:
//
//	[16] log id
//	u32 n, n times: u64 number, u64 nonce of a segment: this one, then the
//	older ones that still matter
//	u32 n, n times: u64 segment, u64 start, u64 end, u64 rows, u32 time
//	what Sealing returned; nothing if the record would become larger than a payload may be
//
// The ranges are all that are cut and not done, and everything uncut
// becomes a range when a segment is made. So the newest readable snapshot and
// the records from its segment on are the whole state, and bytes of older
// segments outside those ranges are not part of the log, whatever they are.
//
// The nonce is random and part of the tokens. Two logs that began as copies of
// one folder have the same log id and go on with the same numbers and offsets;
// without it a store would take the rows of one for a repetition of the other's.
//
// cut:  u64 start, u64 end, u64 rows: a range of the same segment; [16] log id,
// u64 nonce: what else its token is made of, should no snapshot be readable. The
// record's time is when its first record was appended. The offsets embrace whole
// records.
// done: u64 segment, u64 start, u64 end.
const (
	magic         = 0x5057 // "WP"
	formatVersion = 1
	headerBytes   = 24
	alignment     = 8

	// maxPayload bounds what a reader has to hold at once.
	maxPayload = 64 << 20
)

type kind uint8

const (
	kindSnapshot kind = iota + 1
	kindData
	kindCut
	kindDone
)

func checksum(b []byte) uint32 { return extend(0, b) }

// extend continues a checksum. The standard library makes the table once.
func extend(sum uint32, b []byte) uint32 {
	return crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), b)
}

// header is a decoded record header.
type header struct {
	kind   kind
	rows   uint32
	length uint32
	sec    uint32
	crc    uint32
}

// recordBytes is the room a record with a payload of n bytes takes on disk.
func recordBytes(n int) int64 {
	return (headerBytes + int64(n) + alignment - 1) &^ (alignment - 1)
}

// seedFor binds the records of a segment to their log and file.
func seedFor(id logID, number uint64) uint32 {
	b := binary.LittleEndian.AppendUint64(id[:len(id):len(id)], number)
	return checksum(b)
}

// headerCRC mixes in the offset by a product, so that neighbouring records do
// not differ in a few bits only; it is one-to-one up to 32 GiB.
func headerCRC(seed uint32, b []byte, off int64) uint32 {
	return extend(seed+uint32(off/alignment)*0x9e3779b1, b[:headerBytes-4])
}

// appendRecord appends the record that will stand at offset off of its segment.
func appendRecord(dst []byte, seed uint32, off int64, h header, payload []byte) []byte {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint16(dst, magic)
	dst = append(dst, formatVersion, byte(h.kind))
	dst = binary.LittleEndian.AppendUint32(dst, h.rows)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(payload)))
	dst = binary.LittleEndian.AppendUint32(dst, h.sec)
	dst = binary.LittleEndian.AppendUint32(dst, h.crc)
	dst = binary.LittleEndian.AppendUint32(dst, headerCRC(seed, dst[start:], off))
	dst = append(dst, payload...)
	var zeros [alignment]byte
	return append(dst, zeros[:recordBytes(len(payload))-int64(len(dst)-start)]...)
}

// appendControl appends a record whose payload is small and not yet summed.
func appendControl(dst []byte, seed uint32, off int64, k kind, sec uint32, payload []byte) []byte {
	h := header{kind: k, sec: sec, crc: checksum(payload)}
	return appendRecord(dst, seed, off, h, payload)
}

// parseHeader reports false for anything that is not the header of a record at
// offset off.
func parseHeader(b []byte, seed uint32, off int64) (header, bool) {
	h, ok := parseFields(b)
	if h.kind == kindSnapshot {
		seed = 0
	}
	return h, ok && headerCRC(seed, b, off) == binary.LittleEndian.Uint32(b[20:])
}

// parseFields takes the word of a header for what it is and where it stands.
func parseFields(b []byte) (header, bool) {
	if len(b) < headerBytes || binary.LittleEndian.Uint16(b) != magic || b[2] != formatVersion {
		return header{}, false
	}
	h := header{
		kind:   kind(b[3]),
		rows:   binary.LittleEndian.Uint32(b[4:]),
		length: binary.LittleEndian.Uint32(b[8:]),
		sec:    binary.LittleEndian.Uint32(b[12:]),
		crc:    binary.LittleEndian.Uint32(b[16:]),
	}
	return h, h.length <= maxPayload
}
