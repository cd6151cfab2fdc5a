package attribution

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// From proc_pid_stat(5): pid, (comm), state, ppid, ... , starttime as the 22nd field.
const statLine = "4711 (python3) S 4700 4711 4700 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 9 0 123456 789 10 18446744073709551615"

func TestParseStat(t *testing.T) {
	f := func(name, text string, want stat, ok bool) {
		t.Run(name, func(t *testing.T) {
			got, found := parseStat(text)
			assert.Equal(t, ok, found)
			assert.Equal(t, want, got)
		})
	}
	f("as the kernel writes it", statLine, stat{"python3", 4700, 123456}, true)
	f("brackets and spaces in the name", strings.Replace(statLine, "python3", "ray::Actor (a) 1 2 3", 1), stat{"ray::Actor (a) 1 2 3", 4700, 123456}, true)
	f("too short", "4711 (python3) S 4700", stat{}, false)
	f("brackets the wrong way round", "4711 )python3( S 4700", stat{}, false)
	f("no numbers", strings.ReplaceAll(statLine, "123456", "x"), stat{}, false)
	f("nothing", "", stat{}, false)
}

func FuzzParseStat(f *testing.F) {
	f.Add(statLine)
	f.Fuzz(func(t *testing.T, text string) {
		if s, ok := parseStat(text); ok {
			assert.Contains(t, text, "("+s.name+")")
		}
	})
}

func TestNamespacePIDs(t *testing.T) {
	assert.Equal(t, []uint32{41234, 17, 1}, namespacePIDs("Name:\tpython3\nPid:\t41234\nNSpid:\t41234\t17\t1\nNSpgid:\t1\n"))
	assert.Empty(t, namespacePIDs("Name:\tpython3\n"), "kernels before 4.1")
	assert.Empty(t, namespacePIDs("NSpid:\tx\n"))
}

func TestMerge(t *testing.T) {
	f := func(name string, want Identity, ids ...Identity) {
		t.Run(name, func(t *testing.T) { require.Equal(t, want, Merge(ids)) })
	}
	trainer := Identity{Run: "a", Role: "trainer", Rank: "0", Container: "c"}
	f("one", trainer, trainer)
	f("the same twice", trainer, trainer, trainer)
	f("trainer and engine on one GPU", Identity{Run: "a", Rank: "0", Container: "c"},
		trainer, Identity{Run: "a", Role: "engine", Rank: "0", Container: "c"})
	f("what only one has", Identity{Run: "a", Role: "trainer", Rank: "0", Attempt: "2", Container: "c"}, trainer, Identity{Run: "a", Attempt: "2"})
	f("a process of no run does not count", trainer, trainer, Identity{Container: "other", Rank: "5"})
	f("two runs share a GPU", Identity{Container: "c"}, trainer, Identity{Run: "b", Role: "trainer", Rank: "0", Container: "c"})
	f("of three that disagree none wins", Identity{Run: "a"}, Identity{Run: "a", Rank: "0"}, Identity{Run: "a", Rank: "1"}, Identity{Run: "a", Rank: "0"})
	f("no run at all", Identity{Container: "c"}, Identity{Container: "c"}, Identity{Container: "c", Rank: "1"}, Identity{Rank: "2"})
	f("nobody", Identity{})
}
