package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ErrWriteFailed says that the disk refused a write, for want of room as a rule, and that the engine may have published a part
// that is cut short: libchdb 26.7 goes on where a ClickHouse server throws (WriteBufferFromFileDescriptor::nextImpl). A new
// start sets such parts aside, and takes up those that they were merged from, which are kept for eight minutes.
var ErrWriteFailed = errors.New("the disk refused a write: the engine must be started again, which sets damaged parts aside")

// watchInterval is far below the time for which the sources of a merge are kept.
const watchInterval = 3 * time.Second

// failedWrites has no row as long as there was none.
const failedWrites = "SELECT value FROM system.events WHERE event = 'WriteBufferFromFileDescriptorWriteFailed' SETTINGS max_threads = 1"

// CheckWrites returns ErrWriteFailed when a write of this engine has failed, of whatever statement or merge, and wakes Watch.
// What was written before a check that finds nothing is whole.
func (e *Engine) CheckWrites() error {
	failed, err := e.failedWrites()
	if err != nil {
		return err
	}
	if failed > e.tolerated {
		select {
		case e.damaged <- struct{}{}:
		default:
		}
		return ErrWriteFailed
	}
	return nil
}

// Watch returns ErrWriteFailed as soon as a check finds that a write has failed, and makes one itself every three seconds. The end
// of ctx is no error.
func (e *Engine) Watch(ctx context.Context) error {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-e.damaged:
			return ErrWriteFailed
		case <-tick.C:
			if err := e.CheckWrites(); errors.Is(err, ErrWriteFailed) {
				return err
			}
		}
	}
}

// failedWrites counts for the whole process, since its start.
func (e *Engine) failedWrites() (uint64, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	result, err := e.keeper.Query(failedWrites, "TSVRaw")
	if err != nil {
		return 0, fmt.Errorf("count failed writes: %w", err)
	}
	defer result.Close()
	text := strings.TrimSpace(string(result.Bytes()))
	if text == "" {
		return 0, nil
	}
	count, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("count failed writes: %w", err)
	}
	return count, nil
}

// toleratedWrites is how many failed writes are no damage. On a full disk it is one, that of the status file, which the engine
// writes at its start, before it opens the tables, and never reads.
func toleratedWrites(data string) uint64 {
	if status, err := os.Stat(filepath.Join(data, "status")); err == nil && status.Size() == 0 {
		return 1
	}
	return 0
}
