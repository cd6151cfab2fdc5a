package embeddedclickhouseextension

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"go.uber.org/zap"
)

// helperName is the program that serves the engine; it is built and installed beside the collector.
const helperName = "pitwall-clickhouse"

// findHelper returns the helper program's path.
func findHelper(configured string) (string, error) {
	path := configured
	if path == "" {
		collector, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("helper_path: cannot tell where the collector's executable is: %w", err)
		}
		path = filepath.Join(filepath.Dir(collector), helperName)
	}
	path, err := filepath.Abs(path) // without a slash it would be looked up in PATH
	if err != nil {
		return "", fmt.Errorf("helper_path: %w", err)
	}
	if _, err := exec.LookPath(path); err != nil {
		return "", fmt.Errorf("helper_path: no program %s: %w", helperName, err)
	}
	return path, nil
}

// checkFiles finds what the helper would fail on, with the key to blame, and makes the passwords that are missing.
func checkFiles(cfg *Config, logger *zap.Logger) error {
	if cfg.LibraryPath != "" {
		library, err := os.Open(cfg.LibraryPath)
		if err != nil {
			return fmt.Errorf("library_path: %w", err)
		}
		_ = library.Close()
	}
	if cfg.usesTLS() {
		if _, err := tls.LoadX509KeyPair(cfg.TLS.CertFile, cfg.TLS.KeyFile); err != nil {
			return fmt.Errorf("tls: %s and %s: %w", cfg.TLS.CertFile, cfg.TLS.KeyFile, err)
		}
	}
	if cfg.Password == "" {
		if err := checkPasswordFile("password_file", cfg.passwordFile(), logger); err != nil {
			return err
		}
	}
	if cfg.Reader.User != "" && cfg.Reader.Password == "" {
		return checkPasswordFile("reader::password_file", cfg.readerPasswordFile(), logger)
	}
	return nil
}

func checkPasswordFile(key, path string, logger *zap.Logger) error {
	created, err := ensurePasswordFile(path)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	if created {
		logger.Info("Made a password for the embedded ClickHouse", zap.String(key, path))
	}
	return nil
}

// passwordFiles returns the files the helper reads its passwords from; remove deletes those made for this run alone.
func passwordFiles(cfg *Config) (user, reader string, remove func(), err error) {
	var made []string
	remove = func() {
		for _, path := range made {
			_ = os.Remove(path)
		}
		made = nil
	}
	pick := func(inline, file string) string {
		if inline == "" {
			return file
		}
		path, writeErr := writeTemporarySecret(inline)
		err = errors.Join(err, writeErr)
		made = append(made, path)
		return path
	}
	user = pick(string(cfg.Password), cfg.passwordFile())
	if cfg.Reader.User != "" {
		reader = pick(string(cfg.Reader.Password), cfg.readerPasswordFile())
	}
	if err != nil {
		remove()
	}
	return user, reader, remove, err
}

// arguments is the helper's command line. Each is one word, so that no value can pass for a flag.
func arguments(cfg *Config, passwordFile, readerPasswordFile string) []string {
	args := []string{
		"--data-dir=" + cfg.DataDirectory,
		"--listen=" + cfg.ListenAddress,
		"--max-memory=" + strconv.FormatUint(cfg.MemoryLimitMiB<<20, 10),
		"--user=" + cfg.User,
		"--password-file=" + passwordFile,
		"--stop-on-stdin-close",
	}
	if cfg.Reader.User != "" {
		args = append(args, "--reader-user="+cfg.Reader.User, "--reader-password-file="+readerPasswordFile)
	}
	if cfg.usesTLS() {
		args = append(args, "--tls-cert="+cfg.TLS.CertFile, "--tls-key="+cfg.TLS.KeyFile)
	}
	if cfg.LibraryPath != "" {
		args = append(args, "--library="+cfg.LibraryPath)
	}
	return args
}
