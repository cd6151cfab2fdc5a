package wal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
)

// model drives a log through random operations, with crashes, beside a ledger
// that knows what became of each payload.
type model struct {
	t       *testing.T
	rnd     *rand.Rand
	root    string
	opening int
	dir     string
	log     *Log
	store   *store
	held    []Range
	nextID  uint64

	mu      sync.Mutex
	acked   []uint64
	refused []uint64 // answered with an error
}

func TestLog_RandomOperationsAgainstLedger(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			m := &model{t: t, rnd: rand.New(rand.NewPCG(seed, 2)), root: quickDir(t), store: newStore()}
			m.dir = filepath.Join(m.root, "0")
			m.open()
			ops := []func(){m.append, m.append, m.append, m.appendConcurrently, m.take, m.take, m.finish, m.finish, m.reopen, m.crash}
			for range 150 {
				ops[m.rnd.IntN(len(ops))]()
			}
			m.reopen()
			drainInto(t, m.log, m.store)
			m.store.requireExactlyOnce(t, m.acked, m.refused)
			require.NoError(t, m.log.Close())
			require.Zero(t, m.log.Stats().DamagedRows)
			require.Zero(t, m.log.Stats().SetAside)
			require.Empty(t, corruptFiles(t, m.dir))
		})
	}
}

func (m *model) open() {
	l, err := Open(Options{
		Dir: m.dir, SegmentBytes: 4 << 10, MaxBytes: 256 << 10, CutRows: 1 + m.rnd.IntN(30),
		CutInterval: time.Duration(1+m.rnd.IntN(5)) * time.Millisecond, Logger: zap.NewNop(),
	})
	require.NoError(m.t, err)
	m.log = l
}

func (m *model) put(id uint64, size int) {
	err := m.log.Append(m.t.Context(), numbered(id, size), 1)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		m.acked = append(m.acked, id)
		return
	}
	if !errors.Is(err, ErrFull) {
		m.t.Error(err)
	}
	m.refused = append(m.refused, id)
}

func (m *model) append() {
	for range 1 + m.rnd.IntN(10) {
		m.put(m.nextID, 8+m.rnd.IntN(600))
		m.nextID++
	}
}

// background starts appenders and returns what waits for them.
func (m *model) background() (wait func()) {
	var wg sync.WaitGroup
	for range 1 + m.rnd.IntN(6) {
		first, n, size := m.nextID, 1+m.rnd.Uint64N(10), 8+m.rnd.IntN(600)
		m.nextID += n
		wg.Go(func() {
			for id := first; id < first+n; id++ {
				m.put(id, size)
			}
		})
	}
	return wg.Wait
}

func (m *model) appendConcurrently() { m.background()() }

// take stores a range; its mark comes later or never.
func (m *model) take() {
	if m.log.Stats().Rows == 0 {
		return
	}
	r, err := m.log.Next(shortly(m.t))
	if err != nil {
		return // all that is left is held
	}
	m.store.insert(m.t, r.Token(), ids(m.t, m.log, r))
	m.held = append(m.held, r)
}

func (m *model) finish() {
	if len(m.held) == 0 {
		return
	}
	i := m.rnd.IntN(len(m.held))
	m.log.Done(m.held[i])
	m.held = append(m.held[:i], m.held[i+1:]...)
}

func (m *model) reopen() {
	rows := m.log.Stats().Rows
	require.NoError(m.t, m.log.Close())
	m.held = nil
	m.open()
	require.Equal(m.t, rows, m.log.Stats().RecoveredRows)
}

// crash goes on with what a crash in the middle of appending would have left.
func (m *model) crash() {
	m.mu.Lock()
	acked := append([]uint64(nil), m.acked...)
	m.mu.Unlock()
	wait := m.background()
	m.opening++
	dir := filepath.Join(m.root, fmt.Sprint(m.opening))
	copyLog(m.t, m.dir, dir)
	wait()
	// Whatever was answered during the crash, no one heard: either way is right.
	m.acked = acked
	require.NoError(m.t, m.log.Close())
	m.held, m.dir = nil, dir
	m.open()
}
