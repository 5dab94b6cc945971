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

// TestOwnWordsOpen: items() of a span has such a parameter by its name, and with its path where each entry has a part
// of that name.
func TestOwnWordsOpen(t *testing.T) {
	needTracing(t)
	var functions, calls, spans, want strings.Builder
	for i, word := range ownWords {
		fmt.Fprintf(&functions, "__attribute__((noipa)) int f%d(long %s) { return %[2]s; }\n", i, word)
		fmt.Fprintf(&calls, "f%d(%d);\n", i, 1000+i)
		fmt.Fprintf(&spans, "s = span(%q, \"uprobe:PROGRAM:never\", key = lambda e: e.time)\nopen.append(s)\n",
			fmt.Sprint("uprobe:PROGRAM:f", i))
		fmt.Fprintf(&spans, "probe(s, lambda e: print(e.start.args.%s))\n", word)
		shown := word
		if word == "time" {
			shown = "args.time"
		}
		fmt.Fprintf(&want, "%s %d\n", shown, 1000+i)
	}
	const c = "__attribute__((noipa)) void never(void) {}\nint main(int n, char **a) {\n%s\nif (n > 1) never();\n}\n"
	binary := need.Built(t, "gcc -g -O1", "open.c", functions.String()+fmt.Sprintf(c, calls.String()))
	text := "open = []\n" + strings.ReplaceAll(spans.String(), "PROGRAM", binary) + `
at_exit(lambda: [print(name, getattr(r, name)) for s in open for _, r in s.items() for name in dir(r) if name != "time"])
`
	if e := startrace(t, "-q", script(t, text), "-c", binary).ok(t); e.stdout != want.String() {
		t.Errorf("got\n%s\nwant\n%s", e.stdout, want.String())
	}
}

// TestStartOfMemory: a call with an argument of the name start has it at its end, too, also where items() of the
// probe is asked.
func TestStartOfMemory(t *testing.T) {
	needTracing(t)
	calls := []string{"mprotect", "msync", "mincore", "madvise", "mlock", "munlock", "mlock2", "mbind"}
	var c, want strings.Builder
	for i, name := range calls {
		fmt.Fprintf(&c, "syscall(SYS_%s, %dL, 4096L, 0L, 0L, 0L, 0L);\n", name, 7001+i)
		fmt.Fprintf(&want, "%s %d %[2]d %[2]d 4096\n", name, 7001+i)
	}
	binary := need.Built(t, "gcc", "memory.c", "#include <sys/syscall.h>\n#include <unistd.h>\nint main(void) {\n"+
		c.String()+"}\n")
	const probe = `
p = probe("syscall:{%s}", lambda e: print(e.func, e.args.start, e.start.args.start, e.args[0], e.args[1]),
          where = lambda e: 7000 < e.args.start and e.args.start < 8000)
%s`
	for _, ask := range []string{"", "def ask(): p.items()\n"} {
		text := fmt.Sprintf(probe, strings.Join(calls, ","), ask)
		if e := startrace(t, "-q", script(t, text), "-c", binary).ok(t); e.stdout != want.String() {
			t.Errorf("%s: got\n%s\nwant\n%s", ask, e.stdout, want.String())
		}
	}
}
