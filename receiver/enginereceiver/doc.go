// Package enginereceiver scrapes inference engines (SGLang, vLLM) and the routers in front of them, and emits one name
// per meaning whatever the engine and its version.
//
// internal/targets finds what to scrape, internal/scrape asks for one page, internal/exposition reads it and
// internal/mapping makes metrics of it. This package schedules: each target has a goroutine of its own (loop.go), whose
// turn in the interval follows from its name, and hands its metrics on as soon as it has them.
//
// scraperhelper's controller is not used, only its configuration: it waits for the slowest target, gives all results to
// the consumer at once, and starts no scrape while one runs, so one engine that hangs would stop all the others.
package enginereceiver
