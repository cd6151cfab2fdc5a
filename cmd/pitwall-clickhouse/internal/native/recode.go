package native

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	chproto "github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"
)

// Recoder writes the blocks of revision 0 that it is given at another revision.
type Recoder struct {
	w        io.Writer
	revision uint64
	server   column.ServerContext
	buf      chproto.Buffer
}

// NewRecoder writes to w at the given revision.
func NewRecoder(w io.Writer, revision uint64) *Recoder {
	// The time zone of a column without its own does not change its bytes.
	return &Recoder{w: w, revision: revision, server: column.ServerContext{Revision: revision, Timezone: time.UTC}}
}

// Write takes whole blocks, one after the other. It does not take part of one.
func (r *Recoder) Write(p []byte) (int, error) {
	in := bytes.NewReader(p)
	reader := chproto.NewReader(in)
	for {
		block := proto.Block{ServerContext: &r.server}
		if err := block.Decode(reader, 0); err != nil {
			if errors.Is(err, io.EOF) && in.Len() == 0 && len(block.Columns) == 0 {
				return len(p), nil
			}
			return 0, fmt.Errorf("read the engine's block: %w", err)
		}
		r.buf.Reset()
		if err := block.Encode(&r.buf, r.revision); err != nil {
			return 0, fmt.Errorf("write block: %w", err)
		}
		if _, err := r.w.Write(r.buf.Buf); err != nil {
			return 0, err
		}
	}
}
