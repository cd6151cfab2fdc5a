package chdb

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Library is a loaded libchdb. It is never unloaded: the engine keeps threads
// after its last connection is closed.
type Library struct {
	connect        func(argc int32, argv unsafe.Pointer) unsafe.Pointer
	closeConn      func(conn unsafe.Pointer)
	query          func(conn, sql unsafe.Pointer, sqlLen uint64, format unsafe.Pointer, formatLen uint64, names, nameLens, values, valueLens unsafe.Pointer, count uint64) unsafe.Pointer
	streamQuery    func(conn, sql unsafe.Pointer, sqlLen uint64, format unsafe.Pointer, formatLen uint64, names, nameLens, values, valueLens unsafe.Pointer, count uint64) unsafe.Pointer
	streamFetch    func(conn, stream unsafe.Pointer) unsafe.Pointer
	streamCancel   func(conn, stream unsafe.Pointer)
	insert         func(conn, sql unsafe.Pointer, sqlLen uint64, format unsafe.Pointer, formatLen uint64, names, nameLens, values, valueLens unsafe.Pointer, count uint64) unsafe.Pointer
	insertAppend   func(stream, data unsafe.Pointer, size uint64) int32
	insertDone     func(stream unsafe.Pointer) unsafe.Pointer
	insertCancel   func(stream unsafe.Pointer)
	insertError    func(stream unsafe.Pointer) unsafe.Pointer
	insertDestroy  func(stream unsafe.Pointer)
	classify       func(conn, sql unsafe.Pointer, sqlLen uint64, database unsafe.Pointer, databaseLen uint64, out unsafe.Pointer) int32
	resultBuffer   func(result unsafe.Pointer) unsafe.Pointer
	resultLength   func(result unsafe.Pointer) uint64
	resultError    func(result unsafe.Pointer) unsafe.Pointer
	resultElapsed  func(result unsafe.Pointer) float64
	rowsRead       func(result unsafe.Pointer) uint64
	storageRows    func(result unsafe.Pointer) uint64
	storageBytes   func(result unsafe.Pointer) uint64
	rowsWritten    func(result unsafe.Pointer) uint64
	bytesWritten   func(result unsafe.Pointer) uint64
	resultDestroy  func(result unsafe.Pointer)
	signalHandlers func(enabled int32)
	version        func() unsafe.Pointer
}

func (l *Library) symbols() map[string]any {
	return map[string]any{
		"chdb_connect":                     &l.connect,
		"chdb_close_conn":                  &l.closeConn,
		"chdb_query_with_params_n":         &l.query,
		"chdb_stream_query_with_params_n":  &l.streamQuery,
		"chdb_stream_fetch_result":         &l.streamFetch,
		"chdb_stream_cancel_query":         &l.streamCancel,
		"chdb_stream_insert_with_params_n": &l.insert,
		"chdb_stream_append":               &l.insertAppend,
		"chdb_stream_done":                 &l.insertDone,
		"chdb_stream_cancel_insert":        &l.insertCancel,
		"chdb_stream_insert_error":         &l.insertError,
		"chdb_destroy_insert_stream":       &l.insertDestroy,
		"chdb_classify_query_n":            &l.classify,
		"chdb_result_buffer":               &l.resultBuffer,
		"chdb_result_length":               &l.resultLength,
		"chdb_result_error":                &l.resultError,
		"chdb_result_elapsed":              &l.resultElapsed,
		"chdb_result_rows_read":            &l.rowsRead,
		"chdb_result_storage_rows_read":    &l.storageRows,
		"chdb_result_storage_bytes_read":   &l.storageBytes,
		"chdb_result_rows_written":         &l.rowsWritten,
		"chdb_result_bytes_written":        &l.bytesWritten,
		"chdb_destroy_query_result":        &l.resultDestroy,
		"chdb_set_signal_handlers_enabled": &l.signalHandlers,
		"chdb_version":                     &l.version,
	}
}

// Open loads the library at path and turns its signal handlers off. Insert
// streams exist since chDB 26.7.0 and statement classes since 26.7.2: the error
// for an older library names each symbol it lacks.
func Open(path string) (*Library, error) {
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", path, err)
	}
	l := &Library{}
	var missing []string
	for name, fn := range l.symbols() {
		addr, err := purego.Dlsym(handle, name)
		if err != nil {
			missing = append(missing, name)
			continue
		}
		purego.RegisterFunc(fn, addr)
	}
	if len(missing) > 0 {
		return nil, &MissingSymbolsError{Path: path, Symbols: missing}
	}
	l.signalHandlers(0)
	return l, nil
}

// Version is chDB's release, not that of the ClickHouse inside it.
func (l *Library) Version() string { return cString(l.version()) }

// MissingSymbolsError says that the file at Path is not a libchdb, or one too old.
type MissingSymbolsError struct {
	Path    string
	Symbols []string
}

func (e *MissingSymbolsError) Error() string {
	return fmt.Sprintf("%s lacks %s: chDB 26.7.2 or newer is needed", e.Path, strings.Join(e.Symbols, ", "))
}

// cString copies a NUL-terminated string of the library.
func cString(p unsafe.Pointer) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}
