// Package retrydelayprocessor gives refusals a delay. Processors such as memory_limiter and full sending queues refuse with
// an error that says nothing of when to try again; clients then come back at once, or each after a time of its own, and what
// they send has to be taken from the network and decoded before it is refused again.
//
// It stands first in a pipeline, where it sees the errors of everything behind it. It looks at no data.
package retrydelayprocessor
