package wal

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
)

const (
	childDir   = "WAL_TEST_CHILD_DIR"
	childFirst = "WAL_TEST_CHILD_FIRST"
	childTable = "WAL_TEST_CHILD_TABLE"
	childIdle  = "WAL_TEST_CHILD_IDLE" // if set, it stores nothing: a backlog grows
	childBytes = "WAL_TEST_CHILD_BYTES"
	childRate  = 4 // appenders of a child
)

// runChild is the process that gets killed: it appends numbered payloads, says
// which were acknowledged and, with a minus, which were refused, and stores
// ranges in a file, all until it dies.
func runChild() bool {
	dir := os.Getenv(childDir)
	if dir == "" {
		return false
	}
	first, err := strconv.ParseInt(os.Getenv(childFirst), 10, 64)
	must(err)
	size, err := strconv.Atoi(os.Getenv(childBytes))
	must(err)
	table, err := os.OpenFile(os.Getenv(childTable), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(err)
	l, err := Open(childOptions(dir))
	must(err)
	ctx := context.Background()
	for n := range int64(childRate) {
		go func() {
			for id := first + n; ; id += childRate {
				answer := id
				err := l.Append(ctx, numbered(uint64(id), 8+rand.IntN(size)), 1)
				if errors.Is(err, ErrFull) {
					answer = -id
				} else {
					must(err)
				}
				_, err = fmt.Fprintln(os.Stdout, answer)
				must(err)
			}
		}()
	}
	for range 2 {
		if os.Getenv(childIdle) != "" {
			break
		}
		go func() {
			var before Range
			for first := true; ; first = false {
				r, err := l.Next(ctx)
				must(err)
				must(insertLine(table, l, r))
				if !first {
					l.Done(before) // one late, so that kills fall between insert and mark
				}
				before = r
			}
		}()
	}
	select {}
}

func childOptions(dir string) Options {
	return Options{
		Dir: filepath.Join(dir, "log"), CutRows: 20, CutInterval: time.Millisecond,
		SegmentBytes: 16 << 10, MaxBytes: 1 << 30,
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(3)
	}
}

// insertLine stores a range as the table would: wholly or not at all, which is
// what the closing dot is for.
func insertLine(w io.Writer, l *Log, r Range) error {
	line := []byte("\n" + r.Token())
	damaged, err := l.Read(r, func(p []byte, _ int) error {
		line = fmt.Appendf(line, " %d", binary.LittleEndian.Uint64(p))
		return nil
	})
	if err == nil && damaged > 0 {
		err = fmt.Errorf("range %s: %d rows damaged", r.Token(), damaged)
	}
	if err == nil {
		_, err = w.Write(append(line, " ."...))
	}
	return err
}

// readTable applies the table's lines to a store, which drops repeated tokens.
func readTable(t *testing.T, path string) (*store, int) {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	s, repeated := newStore(), 0
	for line := range strings.SplitSeq(string(data), "\n") {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[len(fields)-1] != "." {
			continue
		}
		var rows []uint64
		for _, f := range fields[1 : len(fields)-1] {
			id, err := strconv.ParseUint(f, 10, 64)
			require.NoError(t, err)
			rows = append(rows, id)
		}
		if s.rows[fields[0]] != nil {
			repeated++
		}
		s.insert(t, fields[0], rows)
	}
	return s, repeated
}

// victim is a log, its table and what its children were answered.
type victim struct {
	dir, table     string
	size           int
	next           int64 // id
	idle           bool
	acked, refused []uint64
	kills          int
}

func TestLog_KillAtRandomMoments(t *testing.T) {
	v := &victim{dir: t.TempDir(), table: filepath.Join(t.TempDir(), "table"), size: 400}
	for range 25 {
		v.kill(t, 5*time.Millisecond+rand.N(150*time.Millisecond))
	}
	v.settle(t)
}

func TestLog_KillDuringOpenWithBacklog(t *testing.T) {
	v := &victim{dir: t.TempDir(), table: filepath.Join(t.TempDir(), "table"), size: 400, idle: true}
	v.kill(t, time.Second)
	for range 60 {
		v.kill(t, rand.N(25*time.Millisecond))
	}
	v.settle(t)
}

func TestLog_KillOnAFullDisk(t *testing.T) {
	v := &victim{dir: smallDisk(t), table: filepath.Join(t.TempDir(), "table"), size: 20_000}
	for round := range 20 {
		v.idle = round%4 > 0 // three to fill it, one to make room
		v.kill(t, 20*time.Millisecond+rand.N(100*time.Millisecond))
	}
	require.NotEmpty(t, v.refused, "the disk was never full")
	v.settle(t)
}

// kill runs a child for a while and takes note of its answers.
func (v *victim) kill(t *testing.T, life time.Duration) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+v.dir, childTable+"="+v.table,
		fmt.Sprintf("%s=%d", childFirst, v.next+1), fmt.Sprintf("%s=%d", childBytes, v.size))
	if v.idle {
		cmd.Env = append(cmd.Env, childIdle+"=yes")
	}
	v.next += 1 << 32
	v.kills++
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var reading sync.WaitGroup
	reading.Go(func() {
		for lines := bufio.NewReader(stdout); ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return // what was not wholly said was not said
			}
			id, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
			switch {
			case err != nil:
				t.Errorf("child said %q", line)
			case id > 0:
				v.acked = append(v.acked, uint64(id))
			default:
				v.refused = append(v.refused, uint64(-id))
			}
		}
	})
	timer := time.NewTimer(life)
	<-timer.C
	require.NoError(t, cmd.Process.Kill())
	reading.Wait()
	_ = cmd.Wait() // killed, as it should be
	require.Empty(t, stderr.String())
}

// settle stores what no child got around to, and compares.
func (v *victim) settle(t *testing.T) {
	opts := childOptions(v.dir)
	opts.Logger = zap.NewNop()
	l := open(t, opts)
	table, err := os.OpenFile(v.table, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	left := l.Stats().Rows
	for l.Stats().Rows > 0 {
		r := take(t, l)
		require.NoError(t, insertLine(table, l, r))
		l.Done(r)
	}
	require.NoError(t, table.Close())
	require.NoError(t, l.Close())
	require.Zero(t, l.Stats().DamagedRows)
	require.Zero(t, l.Stats().SetAside)
	got, repeated := readTable(t, v.table)
	require.NotEmpty(t, v.acked)
	got.requireExactlyOnce(t, v.acked, v.refused)
	t.Logf("%d kills: %d acknowledged, %d refused, %d stored, %d ranges sent again with their token, %d rows left to the last",
		v.kills, len(v.acked), len(v.refused), len(got.counts()), repeated, left)
}
