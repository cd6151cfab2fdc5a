package embeddedclickhouseextension

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// runAsFakeHelper turns the test binary into the program its command line asks for: the helper, as the extension starts
// it, or a collector that a test can kill. TestMain calls it first.
func runAsFakeHelper() {
	switch {
	case len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "--data-dir="):
		os.Exit(fakeHelper())
	case len(os.Args) > 1 && os.Args[1] == collectorArgument:
		os.Exit(fakeCollector(os.Args[2]))
	}
}

// A script in the data directory says what the fake helper does, a line per run, the last one for all further runs:
//
//	serve          answer until standard input closes or SIGTERM comes
//	say TEXT       log TEXT, then serve
//	exit CODE TEXT log TEXT and end with CODE; \n in TEXT begins a new line
//	silent         run without ever listening
//	late           listen as soon as the file "go" exists
//	deaf           serve, heeding neither SIGTERM nor standard input
const (
	scriptFile = "script"
	runsFile   = "runs"
	stopsFile  = "stops"
)

// fakeRun is what one run saw of the outside, a line of the file "runs".
type fakeRun struct {
	PID            int
	Args           []string
	Env            []string
	Password       string
	ReaderPassword string
	PasswordMode   string
	PasswordFile   string
}

func fakeHelper() int {
	flags := flag.NewFlagSet("fake helper", flag.ContinueOnError)
	dir := flags.String("data-dir", "", "")
	listen := flags.String("listen", "", "")
	passwordFile := flags.String("password-file", "", "")
	readerPasswordFile := flags.String("reader-password-file", "", "")
	cert := flags.String("tls-cert", "", "")
	key := flags.String("tls-key", "", "")
	stopOnClose := flags.Bool("stop-on-stdin-close", false, "")
	for _, name := range []string{"library", "user", "reader-user", "max-memory"} {
		flags.String(name, "", "")
	}
	if err := flags.Parse(os.Args[1:]); err != nil {
		return exitConfiguration
	}

	run := fakeRun{PID: os.Getpid(), Args: os.Args[1:], Env: os.Environ(), PasswordFile: *passwordFile}
	run.Password = readIfAny(*passwordFile)
	run.ReaderPassword = readIfAny(*readerPasswordFile)
	if info, err := os.Stat(*passwordFile); err == nil {
		run.PasswordMode = info.Mode().String()
	}
	number := countLines(filepath.Join(*dir, runsFile))
	note(*dir, runsFile, run)

	action, text, _ := strings.Cut(scriptLine(*dir, number), " ")
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	if action != "deaf" && *stopOnClose {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			stop <- syscall.SIGTERM
		}()
	}

	switch action {
	case "exit":
		code, message, _ := strings.Cut(text, " ")
		fmt.Fprintln(os.Stderr, strings.ReplaceAll(message, `\n`, "\n"))
		n, _ := strconv.Atoi(code)
		return n
	case "say":
		fmt.Fprintln(os.Stderr, text)
	case "late":
		for readIfAny(filepath.Join(*dir, "go")) == "" {
			select {
			case <-stop:
				return 0
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
	if action != "silent" {
		serve := func() error { return http.ListenAndServe(*listen, fakeEngine()) }
		if *cert != "" {
			serve = func() error { return http.ListenAndServeTLS(*listen, *cert, *key, fakeEngine()) }
		}
		go func() {
			fmt.Fprintln(os.Stderr, serve())
			os.Exit(1)
		}()
	}
	if action == "deaf" {
		signal.Ignore(syscall.SIGTERM)
		select {}
	}
	<-stop
	note(*dir, stopsFile, run.PID)
	return 0
}

// fakeEngine answers /ping, and does what a test asks for: /exit?code=1&say=why, /mute, /unmute.
func fakeEngine() http.Handler {
	var muted atomic.Bool
	mux := http.NewServeMux()
	mux.HandleFunc("/ping", func(w http.ResponseWriter, _ *http.Request) {
		if muted.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprintln(w, "Ok.")
	})
	mux.HandleFunc("/exit", func(_ http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(os.Stderr, r.FormValue("say"))
		code, _ := strconv.Atoi(r.FormValue("code"))
		os.Exit(code)
	})
	mux.HandleFunc("/mute", func(http.ResponseWriter, *http.Request) { muted.Store(true) })
	mux.HandleFunc("/unmute", func(http.ResponseWriter, *http.Request) { muted.Store(false) })
	return mux
}

func scriptLine(dir string, number int) string {
	lines := strings.Split(strings.TrimSpace(readIfAny(filepath.Join(dir, scriptFile))), "\n")
	return lines[min(number, len(lines)-1)]
}

func readIfAny(path string) string {
	content, _ := os.ReadFile(path)
	return string(content)
}

func countLines(path string) int { return strings.Count(readIfAny(path), "\n") }

// note adds a line of JSON to a file of the data directory, if there is one.
func note(dir, name string, value any) {
	file, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer file.Close()
	line, _ := json.Marshal(value)
	_, _ = file.Write(append(line, '\n'))
}

// fakeRuns reads what the runs of the fake helper saw.
func fakeRuns(t *testing.T, dir string) (runs []fakeRun) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(readIfAny(filepath.Join(dir, runsFile))))
	for decoder.More() {
		var run fakeRun
		require.NoError(t, decoder.Decode(&run))
		runs = append(runs, run)
	}
	return runs
}
