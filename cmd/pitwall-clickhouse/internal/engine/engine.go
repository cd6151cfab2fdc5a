package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/pitwall-otel/pitwall/cmd/pitwall-clickhouse/internal/chdb"
)

// Config says where the engine lives and how much it may use.
type Config struct {
	Dir       string // data directory, made with mode 0700 when absent
	Library   string // path of libchdb.so
	MaxMemory uint64 // bytes, for all statements, merges and caches together
}

// Engine is a running ClickHouse engine on an owned data directory.
type Engine struct {
	lib  *chdb.Library
	args []string
	lock *os.File

	mu     sync.Mutex // of the keeper
	keeper *chdb.Conn // the engine lives as long as it is open

	tolerated uint64 // failed writes
	damaged   chan struct{}
}

// Open takes the data directory and starts the engine on it. A directory that
// another process owns is an *InUseError.
func Open(cfg Config) (*Engine, error) {
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	held, err := lock(dir)
	if err != nil {
		return nil, err
	}
	e := &Engine{lock: held, damaged: make(chan struct{}, 1)}
	if err := e.start(cfg, dir); err != nil {
		held.Close()
		return nil, err
	}
	return e, nil
}

func (e *Engine) start(cfg Config, dir string) error {
	config, err := writeConfig(dir, cfg.MaxMemory)
	if err != nil {
		return err
	}
	if e.lib, err = chdb.Open(cfg.Library); err != nil {
		return err
	}
	data := filepath.Join(dir, "engine")
	e.args = []string{
		"--path=" + data,
		"--config-file=" + config,
		// At this level the engine's standard error says why a start fails and
		// nothing about the errors of statements.
		"--log-level=fatal",
	}
	e.keeper, err = e.lib.Connect(e.args...)
	if err != nil {
		// The reason goes to standard error only, and only at this level.
		e.args[len(e.args)-1] = "--log-level=error"
		if e.keeper, err = e.lib.Connect(e.args...); err != nil {
			return fmt.Errorf("start the engine on %s: %w", dir, err)
		}
	}
	e.tolerated = toleratedWrites(data)
	return nil
}

// Connect opens a session.
func (e *Engine) Connect() (*chdb.Conn, error) { return e.lib.Connect(e.args...) }

// Version is the chDB library's release.
func (e *Engine) Version() string { return e.lib.Version() }

// Close stops the engine and gives the directory up. All sessions must be closed.
func (e *Engine) Close() error {
	e.keeper.Close()
	return e.lock.Close()
}
