package line

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/mattn/go-runewidth"
)

// Keys that have not come whole wait.
func TestDecodeParts(t *testing.T) {
	for _, whole := range []string{"\x1b[1;5C", "€", "\x1b[200~a\rb\x1b[201~", "\x1bOA"} {
		for n := 1; n < len(whole); n++ {
			if k, used := decode([]byte(whole[:n])); used != 0 {
				t.Errorf("%q of %q gives %v", whole[:n], whole, k)
			}
		}
		if _, n := decode([]byte(whole + "x")); n != len(whole) {
			t.Errorf("%q takes %d bytes", whole, n)
		}
	}
	if k, _ := decode([]byte("\x1b[200~a\r\n\x1bb\nc\x1b[201~")); string(k.paste) != "a\rb\rc" {
		t.Errorf("pasted %q", k.paste)
	}
}

// The blanks that stand for newlines and tabs are as liner takes them: one
// column, and the end of a word.
func TestInnerBlanks(t *testing.T) {
	for _, r := range []rune{innerNewline, innerTab} {
		if w := runewidth.RuneWidth(r); w != 1 || !unicode.IsSpace(r) {
			t.Errorf("%U has %d columns, is a blank: %v", r, w, unicode.IsSpace(r))
		}
	}
}

func FuzzKeysAndRow(f *testing.F) {
	f.Add([]byte("a\x1b[1;5C\x1b[200~x"))
	f.Add([]byte("1> a\x1b[1G\x1b[0K漢\x1b[3G\n^C"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for rest := b; len(rest) > 0; {
			k, n := decode(rest)
			if n == 0 {
				break
			}
			if strings.ContainsAny(k.keys[min(1, len(k.keys)):], "\r\x03") {
				t.Fatalf("%q ends a line in the middle of a key", k.keys)
			}
			rest = rest[n:]
		}
		var r row
		r.write(b, func(what signal) {
			r.uncover()
			r = row{}
		})
		var s screen
		text, at := r.text()
		if len(text) > 1<<16 {
			return // a cursor far to the right
		}
		s.draw("1> ", text, at, 10)
		s.erase(10)
	})
}

// What liner prints, and the row that it makes; | is the cursor.
func TestRow(t *testing.T) {
	for _, c := range []struct{ printed, want string }{
		{"1> abc", "1> abc|"},
		{"1> abc\x1b[1G1> xabc\x1b[0K\x1b[5G", "1> x|abc"},
		{"1> abc\x1b[1G1> a\x1b[0K\x1b[5G", "1> a|"},
		{"1> 漢字\x1b[6G", "1> 漢|字"},
		{"1> e\u0301x\x1b[5G", "1> e\u0301|x"},
		{"1> x\nold\n2> y", "2> y|"},
		{"\a1> \a", "1> |"},
	} {
		var r row
		for i := range len(c.printed) { // byte by byte
			r.write([]byte{c.printed[i]}, func(signal) { r = row{} })
		}
		if text, at := r.text(); text[:at]+"|"+text[at:] != c.want {
			t.Errorf("%q makes %q, want %q", c.printed, text[:at]+"|"+text[at:], c.want)
		}
	}
}

func TestScreen(t *testing.T) {
	for _, c := range []struct {
		text        string
		at          int
		draw, erase string
	}{
		{"abc", 3, "> abc\r\x1b[5C", "\r\x1b[J"},
		{"abc", 0, "> abc\r\x1b[2C", "\r\x1b[J"},
		{"abcdefgh", 8, "> abcdefgh\r\n\r", "\r\x1b[1A\x1b[J"},        // the cursor has no room in the row
		{"abcdefghij", 1, "> abcdefghij\x1b[1A\r\x1b[3C", "\r\x1b[J"}, // back into the first row
		{"abcdefg漢", 0, "> abcdefg漢\x1b[1A\r\x1b[2C", "\r\x1b[J"},     // a wide character does not fit
		{"abcdefghij", 10, "> abcdefghij\r\x1b[2C", "\r\x1b[1A\x1b[J"},
		{"abc\ndef", 5, "> abc\ndef\r\x1b[1C", "\r\x1b[1A\x1b[J"},
		{"abcdefgh\ndef", 1, "> abcdefgh\ndef\x1b[1A\r\x1b[3C", "\r\x1b[J"}, // the first row is full
	} {
		var s screen
		below := "\n"
		if strings.HasSuffix(c.draw, "\n\r") { // the cursor is there
			below = ""
		}
		if got := s.draw("> ", c.text, c.at, 10); got != c.draw {
			t.Errorf("draw %q: %q, want %q", c.text, got, c.draw)
		}
		if got := s.below(10); got != below {
			t.Errorf("below %q: %q, want %q", c.text, got, below)
		}
		if got := s.erase(10); got != c.erase {
			t.Errorf("erase %q: %q, want %q", c.text, got, c.erase)
		}
		if got := s.erase(10); got != "" {
			t.Errorf("erase nothing: %q", got)
		}
	}
}

// Offers leave out what all of them begin with, up to a field or a folder.
func TestOffersOf(t *testing.T) {
	for _, c := range []struct{ words, shown, want []string }{
		{[]string{"t:a:one", "t:a:two"}, nil, []string{"one", "two"}},
		{[]string{"t:a:one", "t:b:two"}, nil, []string{"a:one", "b:two"}},
		{[]string{"dir/a.star", "dir/b/"}, nil, []string{"a.star", "b/"}},
		{[]string{"print", "probe"}, nil, []string{"print", "probe"}},
		{nil, []string{"t:a:one"}, []string{"one"}},
	} {
		added, offers := Completion{0, c.words, c.shown}.added("x")
		if added != "" || !slices.Equal(offers, c.want) {
			t.Errorf("%q %q: %q, %q, want %q", c.words, c.shown, added, offers, c.want)
		}
	}
}

func TestHistory(t *testing.T) {
	h := parseHistory("one\ntwo\n")
	for _, entry := range []string{"two", "def f():\n  x\n", `ends \`, " ", "four"} {
		h.add(entry)
	}
	if got, want := h.ofThisRun(), "def f():\\\n  x\\\n\nends \\ \nfour\n"; got != want {
		t.Errorf("added %q, want %q", got, want)
	}
	if again := parseHistory(h.String()); !slices.Equal(again.entries,
		[]string{"one", "two", "def f():\n  x\n", `ends \ `, "four"}) {
		t.Errorf("read again %q", again.entries)
	}
	for range 2 * maxHistory {
		h.add(strings.Repeat("x", len(h.entries)%7+1))
	}
	if n := len(h.entries); n > maxHistory {
		t.Errorf("%d entries", n)
	}
}
