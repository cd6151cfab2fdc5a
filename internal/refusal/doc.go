// Package refusal makes the errors with which Pitwall tells an OTLP client to send a request again, and when. The OTLP
// receiver answers with the gRPC status of an error that has one: UNAVAILABLE with RetryInfo over gRPC, 503 with
// Retry-After over HTTP.
package refusal
