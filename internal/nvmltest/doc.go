// Package nvmltest gives tests the GPU helper program and a fake of NVIDIA's library to run it on, built once for all
// test processes. It needs a C compiler, which `make deps` asks for.
package nvmltest
