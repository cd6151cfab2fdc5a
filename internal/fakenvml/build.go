package fakenvml

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed c
var sources embed.FS

// Library is the name of the file that Build makes, and that the loader looks for.
const Library = "libnvidia-ml.so.1"

// Variable is the environment variable that names the script.
const Variable = "PITWALL_FAKE_NVML"

// Build compiles the library into dir with gcc, without the functions missing, and returns
// its path. A library that is there from the same sources is left alone.
func Build(dir string, missing ...string) (string, error) {
	// The linker takes an exact name before a pattern.
	symbols := fmt.Sprintf("{ global: nvml*; local: %s; *; };\n", strings.Join(append(missing, "nothing"), "; "))
	library, stamp := filepath.Join(dir, Library), filepath.Join(dir, Library+".sum")
	files, sum, err := read(symbols)
	if err != nil {
		return "", err
	}
	if old, err := os.ReadFile(stamp); err == nil && string(old) == sum {
		return library, nil
	}
	work, err := os.MkdirTemp(dir, "fakenvml")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	args := []string{"-std=gnu11", "-O1", "-shared", "-fPIC", "-Wl,--version-script=symbols", "-o", Library}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(work, name), text, 0o600); err != nil {
			return "", err
		}
		if strings.HasSuffix(name, ".c") {
			args = append(args, name)
		}
	}
	cmd := exec.CommandContext(context.Background(), "gcc", append(args, "-lm", "-lpthread")...)
	cmd.Dir = work
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("compiling the fake library: %w\n%s", err, out)
	}
	if err := os.Rename(filepath.Join(work, Library), library); err != nil { // others may have it open
		return "", err
	}
	return library, os.WriteFile(stamp, []byte(sum), 0o600)
}

// read returns what is compiled, by name, and a sum of it.
func read(symbols string) (files map[string][]byte, sum string, err error) {
	files = map[string][]byte{"symbols": []byte(symbols)}
	hash := sha256.New()
	hash.Write(files["symbols"])
	entries, err := sources.ReadDir("c")
	if err != nil {
		return nil, "", err
	}
	for _, e := range entries {
		text, err := sources.ReadFile("c/" + e.Name())
		if err != nil {
			return nil, "", err
		}
		files[e.Name()] = text
		hash.Write(text)
	}
	return files, hex.EncodeToString(hash.Sum(nil)), nil
}
