package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/pitwall-otel/pitwall/test/demo/simulation"
	"github.com/pitwall-otel/pitwall/test/demo/telemetry"
)

type options struct {
	otlp     string
	backfill time.Duration
	step     time.Duration
	seed     uint64
	sick     bool
	texts    bool
}

func main() {
	var o options
	flag.StringVar(&o.otlp, "otlp", "http://127.0.0.1:4318", "the collector's OTLP/HTTP address")
	flag.DurationVar(&o.backfill, "backfill", 0, "write this much of the past at once and end")
	flag.DurationVar(&o.step, "step", 30*time.Second, "about how long a training step takes")
	flag.Uint64Var(&o.seed, "seed", 1, "the same seed makes the same values")
	flag.BoolVar(&o.sick, "sick", false, "add a run with troubles")
	flag.BoolVar(&o.texts, "texts", false, "send prompts and answers of samples; otherwise the content policy is off")
	flag.Parse()
	if err := run(os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, o options) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	client, err := telemetry.NewClient(o.otlp)
	if err != nil {
		return err
	}
	defer client.Close()
	started := time.Now()
	ledger := simulation.NewLedger()
	if err := backfill(ctx, client, ledger, o, started); err != nil {
		return err
	}
	for id, r := range ledger.Runs {
		fmt.Fprintf(out, "%s: %d attempts, step %d, %.0f million tokens, %d checkpoints\n",
			id, len(r.Attempts), r.LastStep, float64(r.Tokens)/1e6, len(r.Checkpoints))
	}
	fmt.Fprintf(out, "%d points, %d spans, %d log records in %s\n", client.Sent.Points, client.Sent.Spans, client.Sent.Records,
		time.Since(started).Round(time.Millisecond))
	return nil
}

// backfill sends whole runs with the times they would have had.
func backfill(ctx context.Context, client *telemetry.Client, ledger *simulation.Ledger, o options, end time.Time) error {
	for _, spec := range simulation.Runs(o.seed, end, o.backfill, o.step, o.sick) {
		spec.Texts = o.texts
		timeline := simulation.NewTimeline(spec)
		for chunk := timeline.Next(); chunk != nil; chunk = timeline.Next() {
			ledger.Add(spec, chunk)
			if err := client.Add(ctx, chunk); err != nil {
				return err
			}
		}
	}
	return client.Flush(ctx)
}
