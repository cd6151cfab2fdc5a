// Package simulation makes up RL training runs: what each process of a run would report, step by step, as plain facts in
// the registry's names. It knows nothing of OTLP, of Pitwall or of a clock. The same Spec gives the same facts.
//
// A Timeline yields Chunks in the order of time: setup, one per training step, the pause after a crash, the end. A Ledger
// adds up what was yielded, so that a test can compute what a dashboard must show.
//
// What is made up is shaped like GRPO training of a mixture-of-experts model on two hosts of eight GPUs with an
// engine host beside them; numbers are plausible, nothing more. Meanings that the dashboards' source leaves open (GSA,
// Fourier buckets, B1) are the registry's.
package simulation
