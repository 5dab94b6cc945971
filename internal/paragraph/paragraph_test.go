package paragraph

import (
	"strings"
	"testing"
)

// Paragraphs are broken at spaces, and lose none of their words.
func TestWrapped(t *testing.T) {
	words := strings.Fields(strings.Repeat("one two three four five ", 30) + strings.Repeat("x", Width+10) + " end")
	var text Page
	text.Wrapped(2, 4, "%s", strings.Join(words, "  "))
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	for i, line := range lines {
		indent := 6
		if i == 0 {
			indent = 2
		}
		if len(line)-len(strings.TrimLeft(line, " ")) != indent {
			t.Errorf("line %d is indented otherwise: %q", i, line)
		}
		if len(line) > Width && !strings.Contains(line, "xxx") {
			t.Errorf("line %d has %d characters", i, len(line))
		}
	}
	if got := strings.Fields(text.String()); strings.Join(got, " ") != strings.Join(words, " ") {
		t.Errorf("the words became %q", got)
	}
}

func TestLine(t *testing.T) {
	text := Page{Drop: "/home/me/"}
	text.Line(4, "%s at %s", "what", "/home/me/a.star:1")
	text.Line(4, "")
	text.Raw("as it is\n")
	if got, want := text.String(), "    what at a.star:1\n\nas it is\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
