// Package fleet starts fake inference engines on loopback ports, and on request a router before them, for system tests
// and the demo. Their /metrics is what the named version of SGLang or vLLM writes, quirks included; the values come from
// a simulation of requests: they arrive, wait, are prefilled, decoded token by token, preempted, handed from prefill to
// decode engines, and finish.
//
// Time is virtual: nothing moves but by Advance (or Drive, which calls it by the clock). The same seed and the same calls
// give the same values. Lives is the ledger: what each engine's counters and histograms were when they were served for
// the first and the last time, added up from the requests themselves and not from what was written.
//
// What bites: SGLang's tokenizer counts a request only when it finishes, its scheduler's gauges freeze while it is idle,
// and a series does not exist before it is first used. That is how SGLang is, and the fleet does the same.
package fleet
