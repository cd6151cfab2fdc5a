// Package engines lets a fleet of fake inference engines (test/fleet) work for a simulated run: a rollout submits
// requests, a weight update pauses them, a sick run's engines get troubles.
//
// For times that are past nobody can scrape, so there the readings are made here, in the canonical names and on the
// resource that the engine receiver would use, and travel by OTLP. Live engines are scraped by the receiver itself.
package engines
