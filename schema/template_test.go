package schema

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseTemplate(t *testing.T) {
	f := func(text string, want ...Part) {
		t.Helper()
		got, err := ParseTemplate(text)
		require.NoError(t, err)
		assert.Equal(t, want, got.Parts)
	}
	literal := func(text string) Part { return Part{Literal: text} }
	attribute := func(name string) Part { return Part{Attribute: name} }

	f("sys.cpu_percent", literal("sys.cpu_percent"))
	f("{metric}", attribute("metric"))
	f("sys.disk.{system.filesystem.mountpoint}.percent",
		literal("sys.disk."), attribute("system.filesystem.mountpoint"), literal(".percent"))
	f("a.{b}{c_2}", literal("a."), attribute("b"), attribute("c_2"))
}

func TestParseTemplateRefuses(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		_, err := ParseTemplate(text)
		assert.EqualError(t, err, want)
	}
	f("", `template "" is empty`)
	f("sys.{disk", `template "sys.{disk": { without }`)
	f("sys.disk}", `template "sys.disk}": } without {`)
	f("sys.{}", `template "sys.{}": "" is not an attribute name`)
	f("sys.{a{b}}", `template "sys.{a{b}}": "a{b" is not an attribute name`)
	f("sys.{Disk}", `template "sys.{Disk}": "Disk" is not an attribute name`)
	f("sys.{a..b}", `template "sys.{a..b}": "a..b" is not an attribute name`)
}

// A template cut anywhere is refused or means exactly what is left of it: no place for an attribute is half read.
func TestTemplateTruncated(t *testing.T) {
	const whole = "sys.{disk.io.direction}.{cpu}"
	for cut := range whole {
		got, err := ParseTemplate(whole[:cut])
		open := cut > 4 && cut < 23 || cut > 24
		if cut == 0 || open {
			assert.Error(t, err, whole[:cut])
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, whole[:cut], got.String())
	}
}

func FuzzTemplate(f *testing.F) {
	for _, text := range []string{"", "sys.cpu_percent", "sys.disk.{m}.percent", "{a}{b}", "{", "}", "{{}}", "\xff{a}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		template, err := ParseTemplate(text)
		if err != nil {
			return
		}
		if got := template.String(); got != text {
			t.Errorf("rendered %q from %q", got, text)
		}
		for i, part := range template.Parts {
			if (part.Literal == "") == (part.Attribute == "") {
				t.Errorf("part %d of %q is neither literal nor attribute, or both: %+v", i, text, part)
			}
		}
	})
}
