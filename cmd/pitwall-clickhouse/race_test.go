//go:build race

package main

// buildFlags make the program under test as race-checked as the test.
func buildFlags() (flags []string, cgo string) { return []string{"-race"}, "CGO_ENABLED=1" }
