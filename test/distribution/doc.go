// Package distribution holds the tests of what is shipped: the manifest agrees with go.mod and with the built binary,
// the committed generated code is what the generators write today, every file in config/ is valid, and the house rules
// that no linter knows hold for the whole tree.
//
// The tests run the built programs: `make build` comes first. They read the working tree, so an untracked file that
// breaks a rule fails them too.
package distribution
