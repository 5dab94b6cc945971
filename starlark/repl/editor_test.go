package repl

import (
	"slices"
	"strings"
	"testing"
)

// press decodes keys, all that can be told, and gives them to the editor.
func press(t *testing.T, e *Editor, keys string) (last Action) {
	t.Helper()
	b := []byte(keys)
	for len(b) > 0 {
		k, n := Decode(b)
		if n == 0 {
			t.Fatalf("%q is not whole", b)
		}
		b = b[n:]
		last = e.Key(k)
	}
	return last
}

// What keys make of a line; | is the cursor.
func TestEditor(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"abc\x1b[D\x1b[Dx", "ax|bc"},
		{"abc\x01x\x05y", "xabcy|"},
		{"one two\x17", "one |"},
		{"one two\x01\x1bd", "| two"},
		{"one two\x1bb\x0bx\x19", "one xtwo|"},
		{"one\x15two", "two|"},
		{"ä€\x7f", "ä|"},
		{"ab\x1b[3~", "ab|"},
		{"ab\x01\x04", "|b"},
		{"a\x1b[200~b\x1b[201~c", "abc|"},
		{"a\x1b[5~b", "ab|"}, // a key that means nothing
		{"\x1b[A", "second|"},
		{"typed\x1b[A\x1b[A", "first|"},
		{"typed\x1b[A\x1b[A\x1b[B\x1b[B", "typed|"},
		{"\x12fi", "first|"},
		{"\x12s\x12", "first|"},
		{"x\x12fi\x07", "|"},
		{"pro\t", "probe|"},
		{"pr\t", "pr|"},
		{"\t", "    |"},
	} {
		h := &History{}
		h.Add("first")
		h.Add("second")
		e := NewEditor(h, func(before string) Completion {
			return Completion{0, matching([]string{"print", "probe", "probes"}, before), nil}
		})
		press(t, e, c.keys)
		if got := e.Line()[:e.At()] + "|" + e.Line()[e.At():]; got != c.want {
			t.Errorf("%q gives %q, want %q", c.keys, got, c.want)
		}
	}
}

func TestEditorActions(t *testing.T) {
	for _, c := range []struct {
		keys string
		want Action
	}{
		{"a\r", Submit}, {"a\x03", Abandon}, {"\x04", Leave}, {"a\x04", Redraw}, {"\x0c", Wipe}, {"pr\t", Show},
	} {
		e := NewEditor(&History{}, func(before string) Completion {
			return Completion{0, []string{"print", "probe"}, nil}
		})
		if got := press(t, e, c.keys); got != c.want {
			t.Errorf("%q asks for %d, want %d", c.keys, got, c.want)
		}
	}
}

// Offers leave out what all of them begin with, up to a field or a folder.
func TestEditorOffers(t *testing.T) {
	for _, c := range []struct{ words, shown, want []string }{
		{[]string{"t:a:one", "t:a:two"}, nil, []string{"one", "two"}},
		{[]string{"t:a:one", "t:b:two"}, nil, []string{"a:one", "b:two"}},
		{[]string{"dir/a.star", "dir/b/"}, nil, []string{"a.star", "b/"}},
		{[]string{"print", "probe"}, nil, []string{"print", "probe"}},
		{nil, []string{"t:a:one"}, []string{"one"}},
	} {
		e := NewEditor(&History{}, func(string) Completion { return Completion{0, c.words, c.shown} })
		press(t, e, "x")
		if got := e.Key(Key{Code: Tab}); got != Show || !slices.Equal(e.Offers, c.want) {
			t.Errorf("%q %q: action %d, %q, want %q", c.words, c.shown, got, e.Offers, c.want)
		}
	}
}

// Keys that have not come whole wait.
func TestDecodeParts(t *testing.T) {
	for _, whole := range []string{"\x1b[1;5C", "€", "\x1b[200~a\rb\x1b[201~", "\x1bOA"} {
		for n := range len(whole) {
			if k, used := Decode([]byte(whole[:n])); used != 0 {
				t.Errorf("%q of %q gives %v", whole[:n], whole, k)
			}
		}
		if _, n := Decode([]byte(whole + "x")); n != len(whole) {
			t.Errorf("%q takes %d bytes", whole, n)
		}
	}
	if k, _ := Decode([]byte("\x1b[200~a\rb\x1b[201~")); k.Text != "a\nb" {
		t.Errorf("pasted %q", k.Text)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("a\x1b[1;5C\x1b[200~x"))
	f.Fuzz(func(t *testing.T, b []byte) {
		e := NewEditor(&History{}, func(string) Completion { return Completion{} })
		var s Screen
		for {
			k, n := Decode(b)
			if n == 0 {
				return
			}
			b = b[n:]
			e.Key(k)
			if at := e.At(); at < 0 || at > len(e.Line()) {
				t.Fatalf("the cursor is at %d of %q", at, e.Line())
			}
			s.Draw("1> ", e.Line(), e.At(), 10)
			s.Erase(10)
		}
	})
}

func TestScreen(t *testing.T) {
	for _, c := range []struct {
		text        string
		at          int
		draw, erase string
	}{
		{"abc", 3, "> abc\r\x1b[5C", "\r\x1b[J"},
		{"abc", 0, "> abc\r\x1b[2C", "\r\x1b[J"},
		{"abcdefgh", 8, "> abcdefgh\r\n\r", "\r\x1b[1A\x1b[J"},         // the cursor has no room in the row
		{"abcdefghij", 1, "> abcdefghij\x1b[1A\r\x1b[3C", "\r\x1b[J"},  // back into the first row
		{"abcdefg漢", 0, "> abcdefg漢\x1b[1A\r\x1b[2C", "\r\x1b[J"},      // a wide character does not fit
		{"abcdefghij", 10, "> abcdefghij\r\x1b[2C", "\r\x1b[1A\x1b[J"}, //
	} {
		var s Screen
		below := "\n"
		if strings.HasSuffix(c.draw, "\n\r") { // the cursor is there
			below = ""
		}
		if got := s.Draw("> ", c.text, c.at, 10); got != c.draw {
			t.Errorf("draw %q: %q, want %q", c.text, got, c.draw)
		}
		if got := s.Below(10); got != below {
			t.Errorf("below %q: %q, want %q", c.text, got, below)
		}
		if got := s.Erase(10); got != c.erase {
			t.Errorf("erase %q: %q, want %q", c.text, got, c.erase)
		}
		if got := s.Erase(10); got != "" {
			t.Errorf("erase nothing: %q", got)
		}
	}
}

func TestHistory(t *testing.T) {
	h := ParseHistory("one\ntwo\n")
	for _, line := range []string{"two", "three", " ", "four"} {
		h.Add(line)
	}
	if got := h.Added(); got != "three\nfour\n" {
		t.Errorf("added %q", got)
	}
	if got := h.String(); got != "one\ntwo\nthree\nfour\n" {
		t.Errorf("all %q", got)
	}
	for range 2 * MaxHistory {
		h.Add(strings.Repeat("x", len(h.lines)%7+1))
	}
	if n := strings.Count(h.String(), "\n"); n > MaxHistory {
		t.Errorf("%d lines", n)
	}
}
