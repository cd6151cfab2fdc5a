package nvmltest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pitwall-otel/pitwall/internal/fakenvml"
	"github.com/pitwall-otel/pitwall/internal/repository"
)

// built is a program and why there is none.
type built struct {
	path string
	err  error
}

// helper is one memory per process, which is what sync.OnceValue is for; nothing changes it afterwards.
var helper = sync.OnceValue(func() built { return build("pitwall-nvml", "", "CGO_ENABLED=1") })

func build(name, tags, cgo string) built {
	return locked(func(root, dir string) built {
		path := filepath.Join(dir, name)
		cmd := exec.Command("go", "build", "-ldflags", "-s -w -extldflags=-Wl,-z,lazy", "-tags", tags, "-o", path, "./cmd/pitwall-nvml")
		cmd.Dir = root
		cmd.Env = append(os.Environ(), cgo, "CGO_CFLAGS=-Wno-deprecated-declarations")
		if out, err := cmd.CombinedOutput(); err != nil {
			return built{err: fmt.Errorf("building cmd/pitwall-nvml: %w\n%s", err, out)}
		}
		return built{path: path}
	})
}

// Helper returns the path of a freshly built cmd/pitwall-nvml, with cgo.
func Helper(t testing.TB) string {
	t.Helper()
	return must(t, helper())
}

// HelperWithoutCgo returns the path of the program as it is built where there is no C compiler.
func HelperWithoutCgo(t testing.TB) string {
	t.Helper()
	return must(t, build("pitwall-nvml-without-cgo", "pitwall_nvml_stub", "CGO_ENABLED=0"))
}

// Library returns the path of the fake library, built without the functions missing.
func Library(t testing.TB, missing ...string) string {
	t.Helper()
	sum := sha256.Sum256([]byte(strings.Join(missing, " ")))
	return must(t, locked(func(_, dir string) built {
		dir = filepath.Join(dir, "fakenvml-"+hex.EncodeToString(sum[:4]))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return built{err: err}
		}
		path, err := fakenvml.Build(dir, missing...)
		return built{path: path, err: err}
	}))
}

// Script writes a script for the fake library and tells this test's programs of it. The returned function replaces it.
func Script(t testing.TB, lines ...string) (replace func(lines ...string)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script")
	replace = func(lines ...string) {
		t.Helper()
		if err := fakenvml.Write(path, lines...); err != nil {
			t.Fatal(err)
		}
	}
	replace(lines...)
	t.Setenv(fakenvml.Variable, path)
	return replace
}

// Profile returns the script of a machine.
func Profile(t testing.TB, name string) string {
	t.Helper()
	script, err := fakenvml.Profile(name)
	if err != nil {
		t.Fatal(err)
	}
	return script
}

func must(t testing.TB, b built) string {
	t.Helper()
	if b.err != nil {
		t.Fatal(b.err)
	}
	return b.path
}

// locked builds in bin/test while no other test process does: `go test ./...` runs one per package.
func locked(build func(root, dir string) built) built {
	root, err := repository.Root()
	if err != nil {
		return built{err: err}
	}
	dir := filepath.Join(root, "bin", "test")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return built{err: err}
	}
	lock, err := os.OpenFile(filepath.Join(dir, "nvml.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return built{err: err}
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return built{err: fmt.Errorf("locking %s: %w", lock.Name(), err)}
	}
	return build(root, dir)
}
