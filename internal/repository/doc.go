// Package repository tells tests where the checkout is that they run in: they build its programs and read its files. A
// test runs in its package's folder, so relative paths differ from package to package.
package repository
