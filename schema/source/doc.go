// Package source reads the registry as people write it: registry/*.yaml, in the form of the OpenTelemetry semantic
// conventions with annotations of ours below annotations::pitwall. It checks everything that can be checked before a
// program runs, and names file and line of what is wrong.
//
// The running collector does not use it: package schema holds the same registry as Go tables, which schema/generate
// writes. Tests use it to make a registry of their own.
//
// What bites: a source is one real name of a producer. {rl.stat} in it captures text without "/"; with values, or for an
// enum, only what is listed there, for an int attribute only digits. A source with derived: true is told to readers and
// maps nothing: the metric is computed from it elsewhere.
package source
