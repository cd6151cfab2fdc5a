// Command demo sends simulated training runs to a collector, so that dashboards, queries and alert rules have something
// to show without a GPU: see README.md here. The facts are made up by package simulation and sent by package telemetry.
package main
