package script

import "testing"

// A word of a script is found however it is spelt: as a name, behind a dot, and in a string, with escapes, too. What
// stands in a comment or is a part of another word is none.
func TestSources(t *testing.T) {
	for _, c := range []struct {
		text        string
		uses, names bool
	}{
		{"p.enable()", true, true},
		{`getattr(p, "enable")()`, true, false},
		{`getattr(p, "en\x61ble")()`, true, false},
		{"getattr(p, 'en\\\nable')()", true, false},
		{"enable(p)", false, true},
		{"p.enabled(enable_all) # enable", false, false},
		{`print("p.enable")`, false, false},
	} {
		h := New(Options{})
		if err := h.ParseText("test.star", []byte("x = lambda p: "+c.text+"\n")); err != nil {
			t.Fatal(err)
		}
		if got := h.Sources().Uses("enable"); got != c.uses {
			t.Errorf("%s: uses enable: %v", c.text, got)
		}
		if got := h.Sources().Names("enable"); got != c.names {
			t.Errorf("%s: names enable: %v", c.text, got)
		}
		if got := h.Sources().asks("p", "enable"); got != (c.uses && c.names) {
			t.Errorf("%s: asks for p.enable: %v", c.text, got)
		}
	}
}
