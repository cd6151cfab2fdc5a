package repository

import (
	"errors"
	"os"
	"path/filepath"
)

// Root returns the first folder above the working directory, or that itself, that holds go.mod.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod above the tests")
		}
		dir = filepath.Dir(dir)
	}
}
