// Package targets says what the engine receiver scrapes: it turns endpoints with labels into Targets and finds them in
// the configuration, in files, in DNS, in routers' worker lists and in what programs register over HTTP.
//
// A source returns all that it knows each time it is asked: when a file is torn or a router is away, that is what it
// knew before, with an error beside it. Merge puts the sources together, one target per endpoint.
//
// What bites: an endpoint may hold credentials (user:password@, a query). Target.URL has them and must not be shown;
// Target.Name is for people, rows and logs.
package targets
