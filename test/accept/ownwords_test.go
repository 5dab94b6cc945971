package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// ownWords are words that startrace itself has for parts of an event, or inside. A program may name its parameters so.
var ownWords = []string{"args", "caller", "depth", "func", "globals", "goid", "interface", "kept", "length", "name",
	"operands", "pid", "probe", "ret", "source", "start", "time", "value", "vars"}

// TestOwnWords: a parameter that has a word of startrace for its name has the value that the program gave it. The two
// functions of each word have it in another place, so they cannot share what reads it.
func TestOwnWords(t *testing.T) {
	needTracing(t)
	var functions, calls, probes, want strings.Builder
	for i, word := range ownWords {
		fmt.Fprintf(&functions, "__attribute__((noipa)) int f%d(int a, long %s) { return a + %[2]s; }\n"+
			"__attribute__((noipa)) int g%[1]d(long %[2]s, int a) { return a + %[2]s; }\n", i, word)
		fmt.Fprintf(&calls, "f%d(1, %d); g%[1]d(%[3]d, 2);\n", i, 1000+i, 2000+i)
		both := fmt.Sprintf("%%s:{f%d,g%[1]d}", i)
		fmt.Fprintf(&probes, "probe(%q, lambda e: print(e.func, e.args.%s))\n", "uprobe:"+both, word)
		fmt.Fprintf(&probes, "probe(%q, lambda e: print(e.func, e.ret, e.args.%s, e.start.args.%[2]s))\n",
			"ufunc:"+both, word)
		for _, f := range []struct {
			name     string
			value, a int
		}{{fmt.Sprint("f", i), 1000 + i, 1}, {fmt.Sprint("g", i), 2000 + i, 2}} {
			fmt.Fprintf(&want, "%s %d\n%[1]s %[3]d %[2]d %[2]d\n", f.name, f.value, f.value+f.a)
		}
	}
	binary := need.Built(t, "gcc -g -O1", "words.c", functions.String()+"int main(void) {\n"+calls.String()+"}\n")
	e := startrace(t, "-q", script(t, strings.ReplaceAll(probes.String(), "%s", binary)), "-c", binary).ok(t)
	if e.stdout != want.String() {
		t.Errorf("got\n%s\nwant\n%s", e.stdout, want.String())
	}
}
