// Package quarantineconnector separates the data that the schema processor marked from the rest: resources with the
// attribute pitwall.quarantine.reason go to the pipelines listed in the configuration, all others to the other
// pipelines that the connector exports to. It looks at nothing else and keeps nothing.
//
// What bites: one request can have two receivers, and only one answer. The quarantine goes first; quarantine.go says
// what happens when either side refuses.
package quarantineconnector
