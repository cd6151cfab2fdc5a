package wal

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
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
)

const (
	childDir   = "WAL_TEST_CHILD_DIR"
	childFirst = "WAL_TEST_CHILD_FIRST"
	childIdle  = "WAL_TEST_CHILD_IDLE" // if set, it stores nothing: a backlog grows
	childRate  = 4                     // appenders of a child
)

// runChild is the process that gets killed: it appends numbered payloads, says
// which were acknowledged, and stores ranges in a file, all until it dies.
func runChild() bool {
	dir := os.Getenv(childDir)
	if dir == "" {
		return false
	}
	first, err := strconv.ParseUint(os.Getenv(childFirst), 10, 64)
	must(err)
	table, err := os.OpenFile(filepath.Join(dir, "table"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(err)
	l, err := Open(childOptions(dir))
	must(err)
	ctx := context.Background()
	for n := range uint64(childRate) {
		go func() {
			for id := first + n; ; id += childRate {
				must(l.Append(ctx, numbered(id, 8+rand.IntN(400)), 1))
				_, err := fmt.Fprintln(os.Stdout, id)
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
	for _, line := range strings.Split(string(data), "\n") {
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

func TestLog_KillAtRandomMoments(t *testing.T) {
	t.Run("under load", func(t *testing.T) { killRounds(t, 25, 5*time.Millisecond, 150*time.Millisecond, false) })
	t.Run("during open", func(t *testing.T) { killRounds(t, 60, 0, 25*time.Millisecond, true) })
}

func killRounds(t *testing.T, rounds int, least, most time.Duration, backlog bool) {
	dir := t.TempDir()
	var acked []uint64
	if backlog {
		t.Setenv(childIdle, "yes")
		acked = killOnce(t, dir, 1<<48, time.Second)
	}
	for round := range rounds {
		acked = append(acked, killOnce(t, dir, uint64(round)<<32, least+rand.N(most-least))...)
	}
	// What no child got around to.
	l := open(t, childOptions(dir))
	table, err := os.OpenFile(filepath.Join(dir, "table"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	left := l.Stats().Rows
	for l.Stats().Rows > 0 {
		r := take(t, l)
		require.NoError(t, insertLine(table, l, r))
		l.Done(r)
	}
	require.NoError(t, table.Close())
	s := l.Stats()
	require.Zero(t, s.DamagedRows)
	require.Zero(t, s.SetAside)
	got, repeated := readTable(t, filepath.Join(dir, "table"))
	got.requireExactlyOnce(t, acked, nil)
	t.Logf("%d kills, %d acknowledged, %d stored, %d ranges sent again with their token, %d rows left to the last",
		rounds, len(acked), len(got.counts()), repeated, left)
}

// killOnce runs a child for a while and returns what it acknowledged.
func killOnce(t *testing.T, dir string, first uint64, life time.Duration) []uint64 {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir, childFirst+"="+strconv.FormatUint(first, 10))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var acked []uint64
	var reading sync.WaitGroup
	reading.Go(func() {
		for lines := bufio.NewReader(stdout); ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			if id, err := strconv.ParseUint(strings.TrimSpace(line), 10, 64); err == nil {
				acked = append(acked, id)
			}
		}
	})
	timer := time.NewTimer(life)
	<-timer.C
	require.NoError(t, cmd.Process.Kill())
	reading.Wait()
	_ = cmd.Wait()
	require.Empty(t, stderr.String())
	return acked
}
