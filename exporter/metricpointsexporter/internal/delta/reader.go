package delta

import "encoding/binary"

// reader takes pieces off the front; once something is missing, bad stays true and numbers are 0.
type reader struct {
	data []byte
	bad  bool
}

func (r *reader) take(n uint64) []byte {
	if r.bad || n > uint64(len(r.data)) {
		r.bad, r.data = true, nil
		return nil
	}
	piece := r.data[:n:n]
	r.data = r.data[n:]
	return piece
}

func (r *reader) fixed() uint64 {
	piece := r.take(8)
	if piece == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(piece)
}

func (r *reader) uvarint() uint64 {
	n, size := binary.Uvarint(r.data)
	if size <= 0 {
		r.bad, r.data = true, nil
		return 0
	}
	r.data = r.data[size:]
	return n
}

func (r *reader) varint() int64 {
	n, size := binary.Varint(r.data)
	if size <= 0 {
		r.bad, r.data = true, nil
		return 0
	}
	r.data = r.data[size:]
	return n
}
