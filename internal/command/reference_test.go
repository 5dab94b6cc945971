package command

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/startrace/startrace/stdlib"
)

// What a module says of its functions stands in one column, however the source is indented, and fits a wide terminal.
func TestDocOfModules(t *testing.T) {
	for _, m := range stdlib.Modules() {
		var out strings.Builder
		if err := Doc(&out, m.Name); err != nil {
			t.Fatal(err)
		}
		_, functions, _ := strings.Cut(out.String(), m.Doc)
		for line := range strings.Lines(functions) {
			if strings.HasPrefix(line, "     ") || utf8.RuneCountInString(line) > 121 {
				t.Errorf("%s: %q", m.Name, line)
			}
		}
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"One line.": "One line.",
		"First.\n\n    Then.\n        An example.\n    Last.\n    ": "First.\n\nThen.\n    An example.\nLast.",
		"\n    All.\n    ": "All.",
	} {
		if got := Text(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}
