package batchids

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.uber.org/zap"

	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/points"
)

const (
	entryBytes = len(points.BatchID{})
	// writeBytes is what goes to the kernel at once, heldBytes the most that waits for a disk that takes nothing.
	writeBytes = 64 << 10
	heldBytes  = 4 << 20
	suffix     = ".ids"
)

// files are the generations on disk: ids one behind the other, only ever added to. An unfinished entry at the end
// is what a crash left. Only the goroutine that keeps ids uses it.
type files struct {
	dir  string
	log  *zap.Logger
	last uint64 // the greatest number in use

	file   *os.File // of the youngest generation; nil until it is written
	number uint64
	size   int64
	held   []byte // not written yet
	dirty  bool   // written, not synced yet
}

func (f *files) path(number uint64) string {
	return filepath.Join(f.dir, fmt.Sprintf("%016d%s", number, suffix))
}

// open reads all generations, oldest first. The youngest one is gone on with.
func (f *files) open() ([]*generation, error) {
	entries, err := os.ReadDir(f.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var generations []*generation
	for _, e := range entries {
		digits, ok := strings.CutSuffix(e.Name(), suffix)
		number, err := strconv.ParseUint(digits, 10, 63)
		if !ok || err != nil || f.path(number) != filepath.Join(f.dir, e.Name()) || !e.Type().IsRegular() {
			continue
		}
		content, err := os.ReadFile(f.path(number))
		if err != nil {
			return nil, err
		}
		f.last = max(f.last, number)
		f.number, f.size = number, int64(len(content)-len(content)%entryBytes)
		generations = append(generations, parse(number, content))
	}
	return generations, nil
}

func parse(number uint64, content []byte) *generation {
	g := &generation{number: number, ids: make(map[points.BatchID]struct{}, len(content)/entryBytes)}
	for entry := range slices.Chunk(content, entryBytes) {
		if len(entry) < entryBytes {
			break
		}
		if id := points.BatchID(entry); id != (points.BatchID{}) { // a page that a crash left empty
			g.ids[id] = struct{}{}
		}
	}
	return g
}

// next is a number for a generation to begin.
func (f *files) next() uint64 {
	f.last++
	return f.last
}

// begin finishes the file of the generation before.
func (f *files) begin(number uint64) {
	f.close()
	f.number, f.size, f.held = number, 0, f.held[:0]
}

func (f *files) append(id points.BatchID) {
	if len(f.held) >= heldBytes {
		f.held = f.held[:0] // known until the next start only
	}
	f.held = append(f.held, id[:]...)
	if len(f.held)%writeBytes < entryBytes && len(f.held) >= writeBytes {
		f.report(f.write())
	}
}

// write hands what is held to the kernel. What failed half way is written over by the next attempt.
func (f *files) write() error {
	if len(f.held) == 0 {
		return nil
	}
	if f.file == nil {
		if err := f.create(); err != nil {
			return err
		}
	}
	if _, err := f.file.WriteAt(f.held, f.size); err != nil {
		return err
	}
	f.size += int64(len(f.held))
	f.held, f.dirty = f.held[:0], true
	return nil
}

// create opens the youngest generation's file and makes its name durable.
func (f *files) create() error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(f.path(f.number), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(file.Truncate(f.size), syncDir(f.dir), syncDir(filepath.Dir(f.dir))); err != nil {
		return errors.Join(err, file.Close())
	}
	f.file = file
	return nil
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func (f *files) sync() {
	err := f.write()
	if err == nil && f.dirty {
		err = f.file.Sync()
		f.dirty = err != nil
	}
	f.report(err)
}

func (f *files) close() {
	f.sync()
	if f.file != nil {
		f.report(f.file.Close())
		f.file = nil
	}
}

func (f *files) remove(numbers []uint64) {
	for _, number := range numbers {
		if err := os.Remove(f.path(number)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			f.report(err)
		}
	}
}

func (f *files) report(err error) {
	if err != nil {
		f.log.Warn("cannot write the ids of accepted requests; after a restart their repetitions may be stored again",
			zap.String("directory", f.dir), zap.Error(err))
	}
}
