// Package schemaprocessor makes metrics, spans and log events follow Pitwall's registry: producers' names, attributes
// and units become the registry's, older versions of the schema become this one, and what does not fit is counted,
// made to fit, kept apart or left out, as the rules say.
//
// What a name means is worked out once, into a plan, and kept in a bounded cache; a point of a known metric then costs a
// walk over its attributes. Points are inspected before anything about them is changed, so quarantined data leaves as
// it came.
//
// What bites: a producer is recognised per scope. Where neither a rule in the configuration, the scope, the service nor
// rl.system names it, the names in one request decide, and a request with too few of them stays as it is.
package schemaprocessor

//go:generate go tool -modfile=../../internal/tools/go.mod mdatagen metadata.yaml
