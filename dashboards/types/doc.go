// Package types is the gate that reads the dashboards with the eyes of Grafana's front end: TypeScript's compiler checks each
// JSON file against the types of npm's @grafana/schema. Those know words that a setting may have, and names of settings that
// Grafana's Go SDK lets pass ("tabel" as a legend's mode, a threshold's "colour").
//
// A file becomes a TypeScript literal of type Board by one line put before it, so the compiler's line is the file's line plus
// one. board.ts says what a Board is, and what Grafana knows that its schema lacks.
package types
