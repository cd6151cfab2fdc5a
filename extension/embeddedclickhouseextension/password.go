package embeddedclickhouseextension

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// passwordBytes is the entropy of a generated password, before base64url.
const passwordBytes = 32

// ensurePasswordFile checks that path holds a password. A file that does not exist is made, mode 0600, with a random
// one; created says so.
func ensurePasswordFile(path string) (created bool, err error) {
	content, err := os.ReadFile(path)
	switch {
	case err == nil && len(bytes.TrimSpace(content)) == 0:
		return false, fmt.Errorf("%s is empty: write a password into it, or delete it to have one made", path)
	case err == nil:
		return false, nil
	case !errors.Is(err, fs.ErrNotExist):
		return false, err
	}

	random := make([]byte, passwordBytes)
	_, _ = rand.Read(random) // never fails: see crypto/rand.Read
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false, err
	}
	_, err = file.WriteString(base64.RawURLEncoding.EncodeToString(random))
	if err = errors.Join(err, file.Close()); err != nil {
		return false, errors.Join(err, os.Remove(path))
	}
	return true, nil
}

// writeTemporarySecret puts an inline password into a file of mode 0600, the only way it may reach the helper: argv
// and environment can be read by others. The caller removes the file.
func writeTemporarySecret(secret string) (path string, err error) {
	file, err := os.CreateTemp("", "pitwall-clickhouse-*")
	if err != nil {
		return "", err
	}
	_, err = file.WriteString(secret)
	if err = errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}
