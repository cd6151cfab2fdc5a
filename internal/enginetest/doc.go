// Package enginetest runs the real embedded engine, cmd/pitwall-clickhouse, for tests.
//
//	engine := enginetest.Start(t)
//	client, err := clickhouse.NewClient(http.DefaultClient, engine.Endpoint(), "", nil)
//	engine.Kill()    // as the kernel would
//	engine.Restart() // same port, same data
//	rows := engine.Query("SELECT count() FROM t.x")
//
// The program is built once per test process, into bin/test, where the go tool finds it up to date the next time.
// It needs the engine's library, which `make deps` fetches; without it tests fail, they do not skip. Each engine
// costs about a second to start and 300 MB of memory: share one among subtests, with a database for each.
package enginetest
