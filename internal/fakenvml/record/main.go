// Command record writes the script of this machine's GPUs, to be replayed by the fake library:
//
//	go run ./internal/fakenvml/record -helper bin/pitwall-nvml > internal/fakenvml/profiles/NAME.txt
//
// Serial numbers and UUIDs are made up; process ids and the rest are as they are. Run it under the load that the record
// shall show.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"go.uber.org/zap"

	"github.com/pitwall-otel/pitwall/internal/fakenvml"
	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/internal/nvmlclient"
)

const (
	patience = 30 * time.Second // for the driver to start, and for a GPU to answer
	between  = time.Second      // what GPM tells is about the time between two collections
)

func main() {
	helper := flag.String("helper", "bin/pitwall-nvml", "the helper program")
	library := flag.String("library", "", "libnvidia-ml.so.1; empty for the loader's choice")
	flag.Parse()
	if err := record(nvmlclient.Options{HelperPath: *helper, LibraryPath: *library, Logger: zap.NewNop()}); err != nil {
		fmt.Fprintln(os.Stderr, "record: "+err.Error())
		os.Exit(1)
	}
}

func record(options nvmlclient.Options) error {
	client := nvmlclient.New(options)
	client.Start()
	defer func() { _ = client.Shutdown(context.Background()) }()
	everything := nvml.Request{Classes: nvml.AllClasses, Deadline: patience}
	good := 0
	for deadline := time.Now().Add(patience); ; {
		s := client.Collect(context.Background(), everything)
		if s.Status == nvml.StatusOK {
			good++
		}
		if good == 3 { // the second has GPM, the third what is asked for because something else is unsupported
			_, err := os.Stdout.WriteString(fakenvml.Record(s))
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: %s", s.Status, s.StatusError)
		}
		<-time.After(between)
	}
}
