package targets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	maxFileSize = 4 << 20
	// A pattern that matches more files than this was not meant so.
	maxFiles = 256
)

// Files reads target lists from files, again whenever one changes. Not for concurrent use.
type Files struct {
	patterns []string
	known    map[string]*list
}

// list is what a file held when it was last good.
type list struct {
	seen    fileID
	targets []Target
	// err is why the newest content is not used.
	err error
}

// fileID changes when a file is written again or replaced.
type fileID struct {
	modified time.Time
	size     int64
	info     os.FileInfo // for its inode, by os.SameFile
}

func (f fileID) same(other fileID) bool {
	return f.info != nil && other.info != nil && f.size == other.size && f.modified.Equal(other.modified) && os.SameFile(f.info, other.info)
}

// NewFiles reads the files that the patterns match, as path/filepath.Match has them.
func NewFiles(patterns []string) (*Files, error) {
	for _, pattern := range patterns {
		if _, err := filepath.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf("%q is no file name and no pattern: %w", pattern, err)
		}
	}
	return &Files{patterns: patterns, known: map[string]*list{}}, nil
}

// Find returns the targets of all files. A file that cannot be read or understood keeps its last good list; one that is
// gone has none. The error is about all files that are not as they should be.
func (f *Files) Find(context.Context) ([]Target, error) {
	paths, errs := f.paths()
	known := make(map[string]*list, len(paths))
	var all []Target
	for _, path := range paths {
		l := f.known[path]
		if l == nil {
			l = &list{}
		}
		l.refresh(path)
		if l.err != nil {
			errs = append(errs, fmt.Errorf("target file %s: %w", path, l.err))
		}
		known[path] = l
		all = append(all, l.targets...)
	}
	f.known = known
	return all, errors.Join(errs...)
}

// paths returns the files that are there, and names those that were written out in full and are not.
func (f *Files) paths() (paths []string, errs []error) {
	for _, pattern := range f.patterns {
		matches, err := filepath.Glob(pattern)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if len(matches) == 0 && !strings.ContainsAny(pattern, `*?[\`) {
			errs = append(errs, fmt.Errorf("target file %s: %w", pattern, fs.ErrNotExist))
		}
		paths = append(paths, matches...)
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	if len(paths) > maxFiles {
		errs = append(errs, fmt.Errorf("%d target files; the first %d are read", len(paths), maxFiles))
		paths = paths[:maxFiles]
	}
	return paths, errs
}

// refresh reads the file where it changed since the last time, or failed.
func (l *list) refresh(path string) {
	now, err := identify(path)
	if err != nil {
		l.err = err
		return
	}
	if now.same(l.seen) {
		return
	}
	content, err := readFile(path)
	if err != nil {
		l.err = err
		return
	}
	// Somebody writes it at this moment: what was read may be half of it.
	if after, err := identify(path); err != nil || !after.same(now) {
		return
	}
	l.seen = now
	specs, err := parseList(content)
	if err != nil {
		l.err = err
		return
	}
	found := make([]Target, 0, len(specs))
	for i := range specs {
		t, err := specs[i].Target("file")
		if err != nil {
			l.err = fmt.Errorf("entry %d: %w", i, err)
			return
		}
		found = append(found, t)
	}
	l.targets, l.err = found, nil
}

func identify(path string) (fileID, error) {
	info, err := os.Stat(path)
	if err != nil {
		return fileID{}, err
	}
	// A named pipe would block, a device never end.
	if !info.Mode().IsRegular() {
		return fileID{}, errors.New("not a regular file")
	}
	return fileID{modified: info.ModTime(), size: info.Size(), info: info}, nil
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxFileSize+1))
	if err != nil {
		return nil, err
	}
	if len(content) > maxFileSize {
		return nil, fmt.Errorf("larger than %d bytes", maxFileSize)
	}
	return content, nil
}
