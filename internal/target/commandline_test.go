package target

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWords(t *testing.T) {
	for in, want := range map[string][]string{
		"sleep 0.1":                   {"sleep", "0.1"},
		"  a\tb\nc ":                  {"a", "b", "c"},
		`sh -c 'a; b | c "$x"' ''`:    {"sh", "-c", `a; b | c "$x"`, ""},
		`echo "a \"b\" \n c" d\ e'f'`: {"echo", `a "b" \n c`, "d ef"},
		`"|"`:                         {"|"},
	} {
		got, err := Words(in)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", in, err, diff)
		}
	}
	for in, want := range map[string]string{
		"":      "no command",
		" ":     "no command",
		"a 'b":  "a ' is not closed",
		`a "b\`: `a " is not closed`,
		"a | b": `without a shell that knows '|'`,
		"a $B":  `without a shell that knows '$'`,
	} {
		if _, err := Words(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", in, err, want)
		}
	}
}
