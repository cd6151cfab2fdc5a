package clickhouse

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Row is what a row of the target is looked for by.
type Row struct {
	Run, Metric, Host string
	Rank              uint32
	Device            uint16
	Step              uint64
	Millis            int64 // of event_time, since 1970
	Tags              string
}

// Stored reports which of a few rows the table has. ok is false when nobody can say, because the account may not read it.
func Stored(ctx context.Context, client *Client, target Target, rows []Row) (stored map[Row]bool, ok bool, err error) {
	keys := make([]string, len(rows))
	for i, r := range rows {
		keys[i] = fmt.Sprintf("(%s, %s, %s, %d, %d, %d, fromUnixTimestamp64Milli(%d))",
			quoteLiteral(r.Run), quoteLiteral(r.Metric), quoteLiteral(r.Host), r.Rank, r.Device, r.Step, r.Millis)
	}
	answer, err := client.Query(ctx, fmt.Sprintf(
		"SELECT DISTINCT run_id, metric, host, rank, device, step, toUnixTimestamp64Milli(event_time), tags_json FROM %s "+
			"WHERE (run_id, metric, host, rank, device, step, event_time) IN (%s)",
		target.Ident(target.Table), strings.Join(keys, ", ")), nil)
	if denied(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	stored = make(map[Row]bool, len(answer))
	for _, fields := range answer {
		if len(fields) != 8 {
			return nil, false, fmt.Errorf("clickhouse %s: want 8 columns of %s, got %d", client.Address(), target, len(fields))
		}
		// The table's own types: what cannot be parsed was not written by us and matches nothing.
		rank, _ := strconv.ParseUint(fields[3], 10, 32)
		device, _ := strconv.ParseUint(fields[4], 10, 16)
		step, _ := strconv.ParseUint(fields[5], 10, 64)
		millis, _ := strconv.ParseInt(fields[6], 10, 64)
		stored[Row{fields[0], fields[1], fields[2], uint32(rank), uint16(device), step, millis, fields[7]}] = true
	}
	return stored, true, nil
}
