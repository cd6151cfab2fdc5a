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
)

type options struct {
	otlp, registration string
	past               time.Duration
	live               bool
	step               time.Duration
	seed               uint64
	sick, texts        bool
	ledger             string
}

func main() {
	var o options
	var speed float64
	var gpus string
	flag.StringVar(&o.otlp, "otlp", "http://127.0.0.1:4318", "the collector's OTLP/HTTP address")
	flag.StringVar(&o.registration, "registration", "http://127.0.0.1:13135", "where live engines are registered for scraping")
	flag.DurationVar(&o.past, "backfill", 0, "write this much of the past first, in seconds")
	flag.BoolVar(&o.live, "live", true, "go on after the past until interrupted")
	flag.Float64Var(&speed, "speed", 1, "how many times as fast as a step of 30 s everything is")
	flag.Uint64Var(&o.seed, "seed", 1, "the same seed makes the same values")
	flag.BoolVar(&o.sick, "sick", false, "add a run with troubles")
	flag.BoolVar(&o.texts, "texts", false, "send prompts and answers of samples; otherwise the content policy is off")
	flag.StringVar(&o.ledger, "ledger", "", "file for what dashboards must show of the past that was written, as JSON")
	flag.StringVar(&gpus, "fake-gpus", "", "only build the fake NVIDIA driver and its script into this folder")
	flag.Parse()
	if gpus != "" {
		if err := fakeGPUs(gpus); err != nil {
			fmt.Fprintln(os.Stderr, "demo:", err)
			os.Exit(1)
		}
		return
	}
	o.step = time.Duration(30 * float64(time.Second) / speed)
	if err := run(os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, o options) error {
	if o.step < 100*time.Millisecond || o.step > time.Hour {
		return fmt.Errorf("a speed that makes steps of %s; 100ms to 1h are possible", o.step)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	started := time.Now()
	d, err := newDemo(o, started)
	if err != nil {
		return err
	}
	defer d.close()
	if err := d.backfill(ctx); err != nil {
		return err
	}
	d.report(out, started)
	if o.ledger != "" {
		if err := d.writeLedger(o.ledger); err != nil {
			return err
		}
	}
	if !o.live {
		return nil
	}
	return d.live(ctx)
}

func (d *demo) report(out io.Writer, started time.Time) {
	var points, spans, records int64
	for _, p := range d.players {
		points, spans, records = points+p.client.Sent.Points, spans+p.client.Sent.Spans, records+p.client.Sent.Records
		if r := p.ledger.Runs[p.spec.ID]; r != nil {
			fmt.Fprintf(out, "%s: %d attempts, step %d, %.0f million tokens, %d checkpoints\n",
				p.spec.ID, len(r.Attempts), r.LastStep, float64(r.Tokens)/1e6, len(r.Checkpoints))
		}
	}
	if points > 0 {
		fmt.Fprintf(out, "%d points, %d spans, %d log records in %s\n", points, spans, records, time.Since(started).Round(time.Millisecond))
	}
}

// demo is all runs.
type demo struct {
	options options
	players []*player
}

func newDemo(o options, now time.Time) (*demo, error) {
	d := &demo{options: o}
	for _, spec := range simulation.Runs(o.seed, now, o.past, o.step, o.sick, o.live) {
		spec.Texts = o.texts
		p, err := newPlayer(spec, o)
		if err != nil {
			d.close()
			return nil, err
		}
		d.players = append(d.players, p)
	}
	return d, nil
}

func (d *demo) close() {
	for _, p := range d.players {
		p.close()
	}
}

// backfill sends what is past, one run after the other: the receiving side is the slower one.
func (d *demo) backfill(ctx context.Context) error {
	for _, p := range d.players {
		if err := p.past(ctx, time.Now()); err != nil {
			return fmt.Errorf("run %s: %w", p.spec.ID, err)
		}
	}
	return nil
}

// live plays all runs that go on, until the context ends or one cannot send any more.
func (d *demo) live(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error)
	for _, p := range d.players {
		go func() { ended <- p.live(ctx) }()
	}
	var first error
	for range d.players {
		if err := <-ended; err != nil && first == nil {
			first = err
			cancel()
		}
	}
	return first
}
