package schema

import (
	"cmp"
	"strconv"
	"strings"
)

// IsVersion reports whether the text is numbers with dots between them, "0.4" or "2026.9.1".
func IsVersion(text string) bool {
	for part := range strings.SplitSeq(text, ".") {
		if _, err := strconv.ParseUint(part, 10, 31); err != nil {
			return false
		}
	}
	return true
}

// CompareVersions compares number by number; a missing one is 0.
func CompareVersions(a, b string) int {
	for a != "" || b != "" {
		var partA, partB string
		partA, a, _ = strings.Cut(a, ".")
		partB, b, _ = strings.Cut(b, ".")
		numberA, _ := strconv.Atoi(partA)
		numberB, _ := strconv.Atoi(partB)
		if c := cmp.Compare(numberA, numberB); c != 0 {
			return c
		}
	}
	return 0
}
