package accept

import (
	"slices"
	"strings"
	"testing"
)

// Arguments beyond those that are read are not left out without a word: what is printed of a list that was cut ends
// with "…", in each form, and that of a whole one does not.
func TestExecsnoopManyArguments(t *testing.T) {
	needTracing(t)
	const most = 128
	for _, count := range []int{most, most + 1} {
		words := slices.Concat([]string{"true"}, slices.Repeat([]string{"c"}, count-1))
		shown := words[:min(count, most)]
		plain, quoted := strings.Join(shown, " "), `"`+strings.Join(shown, `" "`)+`"`
		if count > most {
			plain, quoted = plain+" …", quoted+" …"
		}
		command := []string{"-q", "execsnoop", "-c", strings.Join(words, " ")}
		if e := startrace(t, command...).ok(t); !strings.HasSuffix(e.stdout, " 0 "+plain+"\n") {
			t.Errorf("%d arguments: got %s, want %s", count, e.stdout, plain)
		}
		if e := startrace(t, append(command, "--quote")...).ok(t); !strings.HasSuffix(e.stdout, " 0 "+quoted+"\n") {
			t.Errorf("%d arguments in quotes: got %s, want %s", count, e.stdout, quoted)
		}
	}
}
