package enginetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pitwall-otel/pitwall/internal/repository"
)

// program is what Start runs: the engine's server and its library.
type program struct {
	binary, library string
	err             error
}

// build is one memory per process, which is what sync.OnceValue is for; nothing changes it afterwards.
var build = sync.OnceValue(func() program {
	root, err := repository.Root()
	if err != nil {
		return program{err: err}
	}
	library := filepath.Join(root, "node_modules", "@chdb", libraryPackage(), "libchdb.so")
	if _, err := os.Stat(library); err != nil {
		return program{err: fmt.Errorf("the embedded engine's library is missing, run `make deps`: %w", err)}
	}
	dir := filepath.Join(root, "bin", "test")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return program{err: err}
	}
	// `go test ./...` runs one process per package, and all of them come here.
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return program{err: err}
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return program{err: fmt.Errorf("locking %s: %w", lock.Name(), err)}
	}
	binary := filepath.Join(dir, "pitwall-clickhouse")
	cmd := exec.Command("go", "build", "-o", binary, "./cmd/pitwall-clickhouse")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return program{err: fmt.Errorf("building cmd/pitwall-clickhouse: %w\n%s", err, out)}
	}
	return program{binary: binary, library: library}
})

// Binary returns the path of a freshly built cmd/pitwall-clickhouse, and of the engine's library.
func Binary(t testing.TB) (binary, library string) {
	t.Helper()
	p := build()
	if p.err != nil {
		t.Fatal(p.err)
	}
	return p.binary, p.library
}

func libraryPackage() string {
	if runtime.GOARCH == "amd64" {
		return "lib-linux-x64-gnu"
	}
	return "lib-linux-" + runtime.GOARCH + "-gnu"
}
