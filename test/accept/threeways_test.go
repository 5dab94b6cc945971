package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
	"github.com/startrace/startrace/test/target"
)

// What is seen of an argument is the same at the call, at the entry and at the first line of a function, and of a
// result at the call and at the end; and it is what the program says. What is not known there is `<optimized out>`.
//
// > A parameter that debug information has in the frame of its function all the time, though it came in registers, is
// > FAULT up to the function's first call: it may not be stored yet.
func TestThreeWaysToFunctions(t *testing.T) {
	needTracing(t)
	n := moreOf(30)
	if testing.Short() {
		n = 20
	}
	for _, c := range []struct{ command, file, prefix string }{
		{"gcc -w -g -O0", "calls.c", ""}, {"gcc -w -g -O2", "calls.c", ""}, {"clang -w -g -O2", "calls.c", ""},
		{"clang -w -g -O0", "calls.c", ""}, {"go build", "calls.go", "main."},
		{"go build -gcflags=-N", "calls.go", "main."},
	} {
		t.Run(strings.ReplaceAll(c.command, " ", ""), func(t *testing.T) {
			calls := target.TypedC(uint64(2*n), n)
			if c.prefix != "" {
				calls = target.TypedGo(uint64(2*n), n)
			}
			calls.Source = strings.NewReplacer(`printf(" ");`, `printf("|");`, `"f%d", n), strings.Join(words, " ")`,
				`"f%d|", n)+strings.Join(words, "|")`).Replace(calls.Source)
			binary := need.Built(t, c.command, c.file, calls.Source)
			shown := filepath.Join(t.TempDir(), "seen")
			text := strings.NewReplacer("BIN", binary, "FILE", c.file, "PREFIX", c.prefix).Replace(calls.ThreeWays())
			e := startrace(t, "-q", "--output", shown, script(t, text), "-c", binary).ok(t)
			seen, err := os.ReadFile(shown)
			if err != nil {
				t.Fatal(err)
			}
			compareWays(t, &calls, byName(e.stdout), byName(string(seen)),
				c.command == "gcc -w -g -O2")
		})
	}
}

// byName are the values of the lines of a text, by what stands before them.
func byName(text string) map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		name, values, _ := strings.Cut(strings.TrimSpace(line), "|")
		out[name] = strings.Split(values, "|")
	}
	return out
}

// compareWays compares what a program says of each call with what was seen of it. Where gcc optimized, its debug
// information has the first word of some structs in a register that gcc has shifted by then.
func compareWays(t *testing.T, calls *target.Calls, said, seen map[string][]string, optimized bool) {
	t.Helper()
	unknown, wrong, all := 0, 0, 0
	for _, f := range calls.Functions {
		arguments := said[fmt.Sprintf("f%d", f.Number)]
		result := arguments[len(f.Arguments):]
		arguments = arguments[:len(f.Arguments)]
		for way, want := range map[string][]string{"f%d": arguments, "u%d": arguments, "l%d": arguments,
			"f%d ret": result, "r%d": result} {
			got, ok := seen[fmt.Sprintf(way, f.Number)]
			if !ok {
				t.Errorf("f%d was not seen as %s", f.Number, way)
			}
			for i, value := range want {
				all++
				switch {
				case i < len(got) && (got[i] == "<optimized out>" || got[i] == "<fault>"):
					unknown++
				case i < len(got) && got[i] != value && way == "l%d" && optimized:
					wrong++
				case i >= len(got) || got[i] != value:
					t.Errorf(way+" saw %q, the program says %q", f.Number, got, want)
				}
			}
		}
	}
	if unknown > all/4 || wrong > all/100 {
		t.Errorf("%d values of %d are not known, %d at lines are others", unknown, all, wrong)
	}
}
