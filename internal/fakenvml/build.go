package fakenvml

import (
	"embed"
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

// Build compiles the library into dir with the C compiler ($CC, else gcc), without the functions missing, and returns
// its path.
func Build(dir string, missing ...string) (string, error) {
	files, err := sources.ReadDir("c")
	if err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(dir, "fakenvml")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "gcc"
	}
	library := filepath.Join(dir, Library)
	args := []string{"-std=gnu11", "-O1", "-shared", "-fPIC", "-Wl,--version-script=symbols", "-o", library}
	for _, f := range files {
		text, err := sources.ReadFile("c/" + f.Name())
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(work, f.Name()), text, 0o600); err != nil {
			return "", err
		}
		if strings.HasSuffix(f.Name(), ".c") {
			args = append(args, f.Name())
		}
	}
	// The linker takes an exact name before a pattern.
	symbols := fmt.Sprintf("{ global: nvml*; local: %s; *; };\n", strings.Join(append(missing, "nothing"), "; "))
	if err := os.WriteFile(filepath.Join(work, "symbols"), []byte(symbols), 0o600); err != nil {
		return "", err
	}
	cmd := exec.Command(compiler, append(args, "-lm", "-lpthread")...)
	cmd.Dir = work
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("compiling the fake library: %w\n%s", err, out)
	}
	return library, nil
}
