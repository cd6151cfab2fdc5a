// Package compose holds the reference stack: compose.yaml with ClickHouse, Grafana and the collector, their configuration
// files, and a test that loads it as Docker Compose would. docs/stack.md says how to use it and how to outgrow it.
//
// Nothing here is linked into a program. No machine of the project's own runs containers, so what the test cannot see (the
// images, what their entry points do with our files) is stated in docs/stack.md.
package compose
