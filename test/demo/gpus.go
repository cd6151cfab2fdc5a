package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/pitwall-otel/pitwall/internal/fakenvml"
)

// fakeGPUs builds NVIDIA's fake library into a folder, with the script of a machine of eight H200 whose values move. A
// collector that finds the library there, by LD_LIBRARY_PATH, and the script, by fakenvml.Variable, reads it as a driver's.
func fakeGPUs(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("make the folder of the fake driver: %w", err)
	}
	if _, err := fakenvml.Build(folder); err != nil {
		return err
	}
	var script []string
	for _, name := range []string{"h200", "moving"} {
		text, err := fakenvml.Profile(name)
		if err != nil {
			return err
		}
		script = append(script, text)
	}
	if err := fakenvml.Write(filepath.Join(folder, "script"), script...); err != nil {
		return fmt.Errorf("write the fake driver's script: %w", err)
	}
	return nil
}
