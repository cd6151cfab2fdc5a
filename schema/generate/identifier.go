package main

import "strings"

// identifier makes a Go name of a dotted one: "rl.kl.ref" is RLKLRef.
func identifier(name string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return !isWord(r) }) {
		if strings.Contains(" ai api areal cicd ci cpu gpu hw id io kl kv lr mfu moe nvml os pd pr rl roll ssd url usd vcs ", " "+word+" ") {
			b.WriteString(strings.ToUpper(word))
			continue
		}
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

func isWord(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' }
