package line

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// What keys make of a line, with nothing else on the screen and with 200 events
// a second above it.
func TestKeys(t *testing.T) {
	for _, rate := range []string{"none", "5ms"} {
		t.Run(rate, func(t *testing.T) {
			s := start(t, rate, t.TempDir())
			for _, c := range []struct{ keys, want string }{
				{"abc\x1b[D\x1b[Dx", "axbc"},
				{"abc\x1bOD\x1bODx", "axbc"}, // the keys of application mode
				{"abc\x01x\x05y", "xabcy"},
				{"one two\x17", "one "},
				{"one two\x01\x1bd", " two"},
				{"one two\x1b\x7f", "one "},
				{"one two\x1b[1;3Dx", "one xtwo"},
				{"one two\x01\x1b[1;5Cx", "onex two"},
				{"one two\x1bb\x0bx\x19", "one xtwo"},
				{"one\x15two", "two"},
				{"ab\x14", "ba"},
				{"ä€\x7f", "ä"},
				{"漢字\x1b[Dx", "漢x字"},
				{"e\u0301a\x7f\x7fx", "x"}, // a character goes with its marks
				{"ab\x1b[3~", "ab"},
				{"ab\x01\x04", "b"},
				{"a\x1b[5~b", "ab"}, // a key that means nothing
				{"a\x1b\x1b[Db", "ba"},
				{"a\x1b[200~b\tc\x1b[201~d", `ab\tcd`},
				{"pro\t", "probe"},
				{"x(pro\t)", "x(probe)"},
				{"(pro)\x1b[D\t", "(probe)"},
				{"é(pro)\x1b[D\t", "é(probe)"},
				{"\t1", "    1"},
				{strings.Repeat("ab,", testColumns) + "\x01x", "x" + strings.Repeat("ab,", testColumns)},
			} {
				if got, want := s.enter(c.keys), `"`+c.want+`" false`; got != want {
					t.Errorf("%q gives %s, want %s", c.keys, got, want)
				}
			}
			s.leave()
		})
	}
}

// Esc by itself does nothing, and takes nothing of what comes after it.
func TestEscape(t *testing.T) {
	s := start(t, "none", t.TempDir())
	k := newKeyboard(nil)
	k.wanted = true
	k.take([]byte("\x1b"), false)
	if keys, _ := k.next(); keys != "\x1b" { // which waits for the time to pass
		t.Errorf("Esc gives %q", keys)
	}
	s.press("a")
	s.await("1> a")
	s.press("\x1b")
	s.press("\x1b[D")
	s.press("b")
	s.await("1> ba")
	s.leave()
}

// Recalling: the beginning that is typed chooses; a block is one entry, and
// stands on rows of its own.
func TestRecall(t *testing.T) {
	state := t.TempDir()
	for _, rate := range []string{"none", "5ms"} {
		s := start(t, rate, state)
		if rate == "none" {
			s.enter("first")
			s.enter("second")
			s.number += 2
			s.press("\x1b[200~third\nfourth\x1b[201~")
			s.number--
			s.await(fmt.Sprintf("%d> fourth", s.number))
			s.press("\x15")
		}
		for _, c := range []struct{ keys, want string }{
			{"fi\x1b[A", "first"},
			{"\x12fi", "first"},
			{"\x12fi\x07x", "x"},
			{"typed\x1b[A\x1b[B", "typed"},
			{"\x10\x10\x0e", "typed"},
		} {
			if got, want := s.enter(c.keys), `"`+c.want+`" false`; got != want {
				t.Errorf("%q gives %s, want %s", c.keys, got, want)
			}
		}
		s.leave()
	}
}

// A block is recalled, shown and changed as one.
func TestBlock(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	h := &history{}
	h.add("if x:\n\ty\n  漢")
	if err := h.save(); err != nil {
		t.Fatal(err)
	}
	s := start(t, "none", state)
	s.press("\x1b[A")
	s.await("\n1> if x:\n2.     y\n3.   漢")
	s.press("\x1b[D2\x1b[A")
	if got, want := s.enter("\x01 "), `" if x:\n\ty\n  2漢" false`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if screen := "\n" + s.Screen(); !strings.Contains(screen, "\n1>  if x:\n2.     y\n3.   2漢\ngot ") {
		t.Errorf("screen\n%s", screen)
	}
	s.leave()
	again := readHistory()
	if n := len(again.entries); n != 2 || again.entries[1] != " if x:\n\ty\n  2漢" {
		t.Errorf("the history has %q", again.entries)
	}
}

// Each line of a paste is entered but the last, and is known to be pasted.
func TestPaste(t *testing.T) {
	s := start(t, "5ms", t.TempDir())
	var text, want strings.Builder
	for i := range 13 {
		fmt.Fprintf(&text, "line %d\r\n", i)
		fmt.Fprintf(&want, "got \"line %d\" true\n", i)
	}
	s.press("x\x15\x1b[200~" + text.String() + "last\x1b[201~")
	s.await("14> last")
	s.press("\r")
	s.await("\n15>")
	want.WriteString("got \"last\" false\n")
	var got strings.Builder
	for row := range strings.Lines(s.Screen()) {
		if strings.HasPrefix(row, "got ") {
			got.WriteString(row)
		}
	}
	if got.String() != want.String() {
		t.Errorf("got\n%s", got.String())
	}
	s.leave()
}

// Ctrl-C abandons a line, wherever its cursor is; what was typed behind it is
// the next.
func TestAbandon(t *testing.T) {
	s := start(t, "none", t.TempDir())
	s.press("abc")
	s.await("1> abc")
	s.press("\x01\x03\x03def")
	s.await("\n1> abc^C\n2> ^C\n3> def")
	s.leave()
}

// Without pseudo terminals lines are edited by the terminal itself, and what is
// printed meanwhile waits for Enter.
func TestPlain(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to hide /dev/ptmx")
	}
	s := start(t, "hidden", t.TempDir())
	if screen := s.Screen(); !strings.HasPrefix(screen, "plain: open a terminal: ") {
		t.Errorf("screen\n%s", screen)
	}
	if got := s.enter("abd\x7fc"); got != `"abc" false` {
		t.Errorf("got %s", got)
	}
	if raw := s.Raw(); strings.Contains(raw, "\x1b[J") {
		t.Errorf("the line is drawn: %q", raw)
	}
	s.press("\x04")
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
}

// Ctrl-L clears the screen and keeps the line.
func TestClear(t *testing.T) {
	s := start(t, "none", t.TempDir())
	s.enter("one")
	s.press("two\x0c3")
	s.await("2> two3")
	if raw := s.Raw(); !strings.Contains(raw, "\x1b[H\x1b[2J") {
		t.Errorf("%q", raw)
	}
	s.leave()
}

// A window that changes its width changes nothing but where the line wraps.
func TestResize(t *testing.T) {
	s := start(t, "5ms", t.TempDir())
	line := strings.Repeat("abcdefghi,", 12)
	s.press(line[:50])
	for i, columns := range []int{20, 200, 30} {
		if err := s.Resize(columns); err != nil {
			t.Fatal(err)
		}
		s.press(line[50+20*i : 70+20*i])
	}
	s.columns = 30
	if got := s.enter(line[110:]); got != fmt.Sprintf("%q false", line) {
		t.Errorf("got %s", got)
	}
	s.leave()
}

// Offers stand above the line, which stays.
func TestOffers(t *testing.T) {
	s := start(t, "none", t.TempDir())
	s.press("x = (pr\t")
	s.await("\nprint   probe   probes\n1> x = (pr")
	s.leave()
}

var eventRow = regexp.MustCompile(`(?m)^event (\d+)\n`)

// Events stand above the line in their order, each once, while a line that
// wraps is typed, changed, and left.
func TestEventsAbove(t *testing.T) {
	s := start(t, "5ms", t.TempDir())
	line := strings.Repeat("a long line with 漢字, ", 6)
	for i, r := range line {
		s.press(string(r))
		if i%7 == 0 {
			s.press("\x1b[D\x1b[C") // as if to change it
		}
	}
	got := s.enter("")
	if !strings.HasPrefix(got, `"a long line`) {
		t.Errorf("got %s", got)
	}
	s.leave()
	rest := eventRow.ReplaceAllString(s.Screen(), "")
	joined := strings.ReplaceAll(rest, "\n", "")
	if want := "1> " + line + "got "; !strings.Contains(strings.ReplaceAll(joined, " ", ""),
		strings.ReplaceAll(want, " ", "")) {
		t.Errorf("without events:\n%s", rest)
	}
	for i, m := range eventRow.FindAllStringSubmatch(s.Screen(), -1) {
		if m[1] != fmt.Sprint(i+1) {
			t.Fatalf("event %d is number %d of the screen:\n%s", i+1, i, s.Screen())
		}
	}
}
