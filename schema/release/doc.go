// Package release guards the promise that the schema gives to producers and dashboards: what a released version said stays
// true within its major version. schema/released holds each released version; Compare says in words what a registry changes
// and how far the version must move for it.
//
// What bites: a released file is never edited. A table name is a promise too: another one, or an additional rule, changes
// what the rows of a metric are called.
package release
