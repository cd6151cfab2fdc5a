package panels

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// reference finds $name, ${name} and ${name:format}; Grafana's own variables begin with two underscores.
var reference = regexp.MustCompile(`\$(?:\{(\w+)(?::(\w+))?\}|(\w+))`)

// selection is what the variables of a dashboard are set to. A variable of several values is a list also when one is chosen.
type selection map[string][]string

// interpolate puts values into SQL as Grafana's front end does before a query is sent (formats of @grafana/scenes 8.19).
// Other formats than percentencode are not known here: no other is safe in SQL, since singlequote and sqlstring leave
// backslashes as they are.
func interpolate(sql string, chosen selection, multi map[string]bool, w window, interval time.Duration) (string, error) {
	var failed error
	answer := reference.ReplaceAllStringFunc(sql, func(match string) string {
		parts := reference.FindStringSubmatch(match)
		name, format := parts[1]+parts[3], parts[2]
		switch name {
		case "__interval":
			return fmt.Sprintf("%ds", max(1, int(interval.Seconds())))
		case "__interval_ms":
			return fmt.Sprint(interval.Milliseconds())
		case "__from":
			return fmt.Sprint(w.from.UnixMilli())
		case "__to":
			return fmt.Sprint(w.to.UnixMilli())
		}
		if strings.HasPrefix(name, "__") {
			return match // a macro
		}
		values, known := chosen[name]
		if !known {
			failed = fmt.Errorf("%s: no such variable", match)
			return match
		}
		if format != "percentencode" {
			failed = fmt.Errorf("%s: format %q cannot be used in SQL", match, format)
			return match
		}
		text := strings.Join(values, ",")
		if multi[name] {
			text = "{" + text + "}"
		}
		return encodeURIComponentStrict(text)
	})
	return answer, failed
}

// encodeURIComponentStrict is JavaScript's encodeURIComponent that leaves none of !'()* either.
func encodeURIComponentStrict(text string) string {
	return strings.NewReplacer("+", "%20", "!", "%21", "'", "%27", "(", "%28", ")", "%29", "*", "%2A").Replace(url.QueryEscape(text))
}

func TestInterpolate(t *testing.T) {
	chosen := selection{"run_id": {"a", "b c"}, "attempt": {"latest"}, "host": {`x\' OR 1=1 -- *`}}
	multi := map[string]bool{"run_id": true}
	w := window{time.UnixMilli(1000), time.UnixMilli(61000)}
	f := func(sql, want string) {
		t.Helper()
		got, err := interpolate(sql, chosen, multi, w, 30*time.Second)
		assert.NoError(t, err)
		assert.Equal(t, want, got)
	}
	f("SELECT '${run_id:percentencode}'", "SELECT '%7Ba%2Cb%20c%7D'")
	f("'${attempt:percentencode}'", "'latest'")
	f("'${host:percentencode}'", "'x%5C%27%20OR%201%3D1%20--%20%2A'")
	f("$__timeFilter(t) $__interval ${__from}", "$__timeFilter(t) 30s 1000")

	refused := func(sql, want string) {
		t.Helper()
		_, err := interpolate(sql, chosen, multi, w, time.Second)
		assert.ErrorContains(t, err, want)
	}
	refused("IN (${run_id:singlequote})", "cannot be used in SQL")
	refused("'$attempt'", "cannot be used in SQL")
	refused("'${absent:percentencode}'", "no such variable")
}
