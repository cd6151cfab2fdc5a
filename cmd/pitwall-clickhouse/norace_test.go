//go:build !race

package main

// buildFlags make the program under test as it is shipped.
func buildFlags() (flags []string, cgo string) { return nil, "CGO_ENABLED=0" }
