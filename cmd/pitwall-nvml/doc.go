//go:build (linux && cgo) || pitwall_nvml_stub

// Command pitwall-nvml loads NVIDIA's management library and answers the collector's questions about GPUs over its
// standard input and output, in the frames of internal/nvml/wire. The collector starts it; see README.md.
//
// What bites:
//   - A call to a function that the driver lacks ends the process ("symbol lookup error", exit code 127), which no Go
//     code can catch. Every function is looked up before it is called: library.has.
//   - Any call can hang for good, in the kernel, where not even SIGKILL ends it. So each GPU has a thread of its own,
//     the list of GPUs and the events as well, and the loop that answers never calls the library.
//   - The library is never shut down: after a failed start that ends the process, and before an end it can hang.
package main
