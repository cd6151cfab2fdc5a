package enginetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEngineKeepsItsDataOverRestartAndKill(t *testing.T) {
	e := Start(t, WithPassword("hunter2"))
	e.Query("CREATE DATABASE d")
	e.Query("CREATE TABLE d.t (a UInt8, b String) ENGINE = MergeTree ORDER BY a")
	e.Query("INSERT INTO d.t VALUES (1, 'x'), (2, 'y')")
	want := [][]string{{"1", "x"}, {"2", "y"}}

	assert.Equal(t, want, e.Query("SELECT * FROM d.t ORDER BY a"))
	address := e.Address()
	e.Kill()
	_, err := e.Exec("SELECT 1")
	require.Error(t, err, "nobody listens")
	e.Restart()
	assert.Equal(t, want, e.Query("SELECT * FROM d.t ORDER BY a"))
	e.Stop()
	e.Restart()
	assert.Equal(t, want, e.Query("SELECT * FROM d.t ORDER BY a"))
	assert.Equal(t, address, e.Address())

	_, err = e.Exec("SELECT nothing")
	require.ErrorContains(t, err, "UNKNOWN_IDENTIFIER")
	e.password = "wrong"
	_, err = e.Exec("SELECT 1")
	require.ErrorContains(t, err, "status 403")
}
