// Package expositiontest writes expositions of the size and shape that engines have, for benchmarks and tests of load:
// vLLM's families, label sets and buckets with client_python's way of writing. The numbers in them mean nothing; what
// engines count, and how it hangs together, is the business of test/fleet.
package expositiontest
