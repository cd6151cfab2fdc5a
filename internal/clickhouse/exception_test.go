package clickhouse

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseException(t *testing.T) {
	f := func(body string, code int, name, message string) {
		t.Helper()
		gotCode, gotName, gotMessage, found := parseException([]byte(body))
		assert.Equal(t, code != 0, found)
		assert.Equal(t, code, gotCode)
		assert.Equal(t, name, gotName)
		assert.Equal(t, message, gotMessage)
	}
	// As 26.7 answers.
	f("Code: 60. DB::Exception: Table t.x does not exist. Maybe you meant system.one?. (UNKNOWN_TABLE) (version 26.7.2.1)\n",
		60, "UNKNOWN_TABLE", "Table t.x does not exist. Maybe you meant system.one?.")
	f("Code: 60. DB::Exception: Table t.x does not exist. (UNKNOWN_TABLE) (version 24.8.4.13 (official build))\n",
		60, "UNKNOWN_TABLE", "Table t.x does not exist.")
	f("Code: 497. DB::Exception: default: Not enough privileges. (ACCESS_DENIED)", 497, "ACCESS_DENIED", "default: Not enough privileges.")
	// As 21.3 answered.
	f("Code: 60, e.displayText() = DB::Exception: Table default.wtf doesn't exist (version 21.3.1.1)\n",
		60, "", "Table default.wtf doesn't exist")
	// After rows, and in the frame of newer servers.
	f("1\n2\nCode: 159. DB::Exception: Timeout exceeded: elapsed 1.2 seconds. (TIMEOUT_EXCEEDED)",
		159, "TIMEOUT_EXCEEDED", "Timeout exceeded: elapsed 1.2 seconds.")
	f("1\r\n__exception__\r\nabcdefghijklmnop\r\n"+
		"Code: 395. DB::Exception: Value passed to 'throwIf' function is non-zero. (FUNCTION_THROW_IF_VALUE_IS_NON_ZERO) (version 26.7.2.1)\n"+
		"131 abcdefghijklmnop\r\n__exception__\r\n",
		395, "FUNCTION_THROW_IF_VALUE_IS_NON_ZERO", "Value passed to 'throwIf' function is non-zero.")
	// An error that quotes another one keeps its own code.
	f("Code: 115. DB::Exception: Code: 117. DB::Exception: inner. (INCORRECT_DATA) (version 26.7.2.1). (UNKNOWN_SETTING)",
		115, "UNKNOWN_SETTING", "Code: 117. DB::Exception: inner. (INCORRECT_DATA) (version 26.7.2.1).")
	f("Code: 6. DB::Exception: bad (HERE) text", 6, "", "bad (HERE) text")
	// None.
	f("", 0, "", "")
	f("502 Bad Gateway", 0, "", "")
	f("Code: . DB::Exception: x", 0, "", "")
	f("Code: 0. DB::Exception: x", 0, "", "")
	f("Code: 99999999999999999999. DB::Exception: x", 0, "", "")
	f("Code: 60. Something else", 0, "", "")
	f("Error Code: Code: 60. DB::Exception: x", 60, "", "x")
}

// However much of the text a cut connection leaves, the code is right or there is none.
func TestParseExceptionCutAtEveryByte(t *testing.T) {
	const text = "[\"1\"]\nCode: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED) (version 26.7.2.1)\n"
	known := strings.Index(text, "Memory limit")
	for n := range len(text) {
		code, name, message, found := parseException([]byte(text[:n]))
		require.Equal(t, n >= known, found, text[:n])
		if found {
			require.Equal(t, 241, code)
			require.Contains(t, []string{"", "MEMORY_LIMIT_EXCEEDED"}, name)
			require.True(t, strings.HasPrefix("Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED) (version 26.7.2.1)", message), message)
		}
	}
}

// Whatever stands before an exception in an answer, the exception is found, unless it holds one itself.
func FuzzParseException(f *testing.F) {
	f.Add("", uint16(60), "Table does not exist.")
	f.Add("[\"1\"]\n", uint16(252), "Too many parts (300).")
	f.Add("Code: 1", uint16(1), "")
	f.Add("\xff\r\n__exception__\r\n", uint16(999), "a (B) c\xff")
	f.Fuzz(func(t *testing.T, before string, number uint16, text string) {
		code := int(number) + 1
		body := before + fmt.Sprintf("Code: %d. DB::Exception: %s (SOME_NAME) (version 26.7.2.1)\n", code, text)
		gotCode, gotName, gotMessage, found := parseException([]byte(body))
		require.True(t, found)
		require.Positive(t, gotCode)
		require.True(t, utf8.ValidString(gotMessage))
		if strings.Contains(before, "Code: ") || strings.Contains(text, "\r\n__exception__") || strings.HasSuffix(before, "Code:") {
			return
		}
		require.Equal(t, code, gotCode)
		require.Equal(t, "SOME_NAME", gotName)
		require.Equal(t, strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD")), strings.TrimSpace(gotMessage))
	})
}

func TestBoundCutsAtCharacters(t *testing.T) {
	f := func(in string, limit int, want string) {
		t.Helper()
		assert.Equal(t, want, bound(in, limit))
	}
	f("abc", 3, "abc")
	f("abcdefg", 6, "abc…")
	f("aääää", 7, "aä…")
	f("aääää", 8, "aää…")
}
