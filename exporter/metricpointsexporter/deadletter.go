package metricpointsexporter

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// deadLetters keeps blocks that the server will never take: NAME.native, which `INSERT ... FORMAT Native` reads once
// the reason in NAME.native.reason is mended.
type deadLetters struct {
	directory string
	maxBytes  int64
}

// keep returns where the block lies, or why it was not kept.
func (d deadLetters) keep(token string, block []byte, reason error) string {
	path := filepath.Join(d.directory, token+".native")
	if err := d.write(path, block, reason); err != nil {
		return fmt.Sprintf("not kept: %v", err)
	}
	return path
}

func (d deadLetters) write(path string, block []byte, reason error) error {
	if err := os.MkdirAll(d.directory, 0o700); err != nil {
		return err
	}
	held, err := sizeOf(d.directory)
	if err != nil {
		return err
	}
	if held+int64(len(block)) > d.maxBytes {
		return fmt.Errorf("%s is full ('dead_letter::max_size_mib')", d.directory)
	}
	return errors.Join(
		writeDurably(path, block),
		writeDurably(path+".reason", []byte(reason.Error()+"\n")),
	)
}

// writeDurably returns when the file is on disk: behind it the log forgets the points.
func writeDurably(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Sync(), file.Close())
}

func sizeOf(directory string) (int64, error) {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return 0, err
	}
	total := int64(0)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil {
			total += info.Size()
		}
	}
	return total, nil
}
