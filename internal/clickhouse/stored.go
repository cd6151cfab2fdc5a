package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Row is a row of the target, whole.
type Row struct {
	Run, Metric, Host, Unit string
	Rank                    uint32
	Device                  uint16
	Step                    uint64
	Millis                  int64  // of event_time, since 1970
	Value                   uint64 // the bits of a float64, so that a NaN equals itself
	Tags                    string
}

// maxKeys bounds a look's statement, in bytes, below a server's max_query_size of 256 KiB.
const maxKeys = 100 << 10

// Stored counts the different rows among these, and those of them that the table has. ErrDenied says that nobody can tell.
func Stored(ctx context.Context, client *Client, target Target, rows []Row) (different, stored int, err error) {
	seen := make(map[Row]bool, len(rows))
	var keys strings.Builder
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for i, r := range rows {
		if !seen[r] {
			seen[r] = true
			first, last = min(first, r.Millis), max(last, r.Millis)
			if keys.Len() > 0 {
				keys.WriteString(", ")
			}
			// Nothing but literals: the server reads a list of them several times as fast.
			fmt.Fprintf(&keys, "(%s, %s, %s, %d, %d, %d, %d, %d, %s, %s)",
				quoteLiteral(r.Run), quoteLiteral(r.Metric), quoteLiteral(r.Host), r.Rank, r.Device, r.Step, r.Millis,
				r.Value, quoteLiteral(r.Unit), quoteLiteral(r.Tags))
		}
		if keys.Len() == 0 || keys.Len() < maxKeys && i < len(rows)-1 {
			continue
		}
		n, err := countStored(ctx, client, target, keys.String(), first, last)
		if err != nil {
			return 0, 0, err
		}
		stored += n
		keys.Reset()
	}
	return len(seen), stored, nil
}

// ErrDenied says that the account may not read the target.
var ErrDenied = errors.New("the account may not read the table")

// countStored counts the different rows of the target that are among the keys, whose times are first to last.
func countStored(ctx context.Context, client *Client, target Target, keys string, first, last int64) (int, error) {
	const columns = "run_id, metric, host, rank, device, step, toUnixTimestamp64Milli(event_time), reinterpretAsUInt64(value), unit, tags_json"
	answer, err := client.Query(ctx, fmt.Sprintf("SELECT uniqExact(%s) FROM %s WHERE (%s) IN (%s) "+
		"AND event_time BETWEEN fromUnixTimestamp64Milli(%d) AND fromUnixTimestamp64Milli(%d)", // which says the partitions
		columns, target.Ident(target.Table), columns, keys, first, last), nil)
	if denied(err) {
		return 0, ErrDenied
	}
	if err != nil {
		return 0, err
	}
	if len(answer) != 1 || len(answer[0]) != 1 {
		return 0, fmt.Errorf("clickhouse %s: want one number of %s, got %q", client.Address(), target, answer)
	}
	n, err := strconv.Atoi(answer[0][0])
	if err != nil {
		return 0, fmt.Errorf("clickhouse %s: want one number of %s: %w", client.Address(), target, err)
	}
	return n, nil
}
