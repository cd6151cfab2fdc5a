package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/pitwall-otel/pitwall/cmd/pitwall-clickhouse/internal/httpserver"
)

// options are the command line's, checked. The fields are exported for confine.
type options struct {
	DataDir          string
	Listen           string
	Library          string
	CertFile         string
	KeyFile          string
	MaxMemory        uint64
	StopOnStdinClose bool
	Users            []httpserver.User
}

// minMemory is what the engine needs to start and to merge, in bytes.
const minMemory = 256 << 20

var errHelp = errors.New("help was asked for")

func parseOptions(args []string) (options, error) {
	var o options
	var user, passwordFile, reader, readerFile string
	f := flag.NewFlagSet("pitwall-clickhouse", flag.ContinueOnError)
	f.SetOutput(io.Discard) // an error is one line, not all the flags
	f.StringVar(&o.DataDir, "data-dir", "", "directory of the engine's data (required)")
	f.StringVar(&o.Listen, "listen", "127.0.0.1:8123", "address to listen on")
	f.StringVar(&o.Library, "library", "", "path of libchdb.so (default: beside the executable)")
	f.StringVar(&user, "user", "default", "name of the user")
	f.StringVar(&passwordFile, "password-file", "", "file with the user's password; required unless listening on loopback")
	f.StringVar(&reader, "reader-user", "", "name of a user that may only read")
	f.StringVar(&readerFile, "reader-password-file", "", "file with that user's password")
	f.StringVar(&o.CertFile, "tls-cert", "", "certificate file (PEM); read again when it changes")
	f.StringVar(&o.KeyFile, "tls-key", "", "key file (PEM)")
	f.Uint64Var(&o.MaxMemory, "max-memory", 2<<30, "memory limit of the engine in bytes")
	f.BoolVar(&o.StopOnStdinClose, "stop-on-stdin-close", false, "stop when standard input is closed")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			f.SetOutput(os.Stdout)
			f.PrintDefaults()
			err = errHelp
		}
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if err := o.addUsers(user, passwordFile, reader, readerFile); err != nil {
		return o, err
	}
	return o, o.check()
}

func (o *options) addUsers(user, passwordFile, reader, readerFile string) error {
	writer := httpserver.User{Name: user}
	var err error
	if passwordFile != "" {
		if writer.Password, err = readPassword("--password-file", passwordFile); err != nil {
			return err
		}
	}
	o.Users = []httpserver.User{writer}
	if (reader == "") != (readerFile == "") {
		return errors.New("--reader-user and --reader-password-file belong together")
	}
	if reader == "" {
		return nil
	}
	if reader == user {
		return fmt.Errorf("--reader-user %q is also --user", reader)
	}
	only := httpserver.User{Name: reader, ReadOnly: true}
	if only.Password, err = readPassword("--reader-password-file", readerFile); err != nil {
		return err
	}
	o.Users = append(o.Users, only)
	return nil
}

func (o *options) check() error {
	if o.DataDir == "" {
		return errors.New("--data-dir is required")
	}
	if (o.CertFile == "") != (o.KeyFile == "") {
		return errors.New("--tls-cert and --tls-key belong together")
	}
	if o.MaxMemory < minMemory {
		return fmt.Errorf("--max-memory %d is less than %d bytes", o.MaxMemory, minMemory)
	}
	if _, _, err := net.SplitHostPort(o.Listen); err != nil {
		return fmt.Errorf("--listen %q: %w", o.Listen, err)
	}
	if o.Users[0].Password == "" && !o.loopback() {
		return fmt.Errorf("--listen %s is not a loopback address: a password is needed there, give --password-file", o.Listen)
	}
	// The confined process must not depend on where it was started.
	for _, path := range []*string{&o.DataDir, &o.Library, &o.CertFile, &o.KeyFile} {
		if *path == "" {
			continue
		}
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return fmt.Errorf("%s: %w", *path, err)
		}
		*path = absolute
	}
	if o.Library == "" {
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("find libchdb.so: %w", err)
		}
		o.Library = filepath.Join(filepath.Dir(self), "libchdb.so")
	}
	if _, err := os.Stat(o.Library); err != nil {
		return fmt.Errorf("--library: %w", err)
	}
	return nil
}

// loopback is by the text alone: a name could resolve to anything by the time it
// is listened on.
func (o *options) loopback() bool {
	host, _, _ := net.SplitHostPort(o.Listen)
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

func readPassword(option, path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", option, err)
	}
	password := strings.TrimSpace(string(b))
	if password == "" {
		return "", fmt.Errorf("%s: %s is empty", option, path)
	}
	return password, nil
}
