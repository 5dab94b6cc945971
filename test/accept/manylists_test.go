package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// A list that cannot be read, one whose end lies before its beginning and one of no element are no ways of their own
// for the verifier, however many lists a handler reads: it followed three times as many instructions for each, and
// refused eight lists.
func TestManyLists(t *testing.T) {
	needTracing(t)
	needVerifierWork(t)
	need.Sources(t, "../..")
	const lists = 16
	var fields, fill, read, want []string
	for i := range lists {
		fields = append(fields, fmt.Sprintf("std::vector<int> l%d;", i))
		read = append(read, fmt.Sprintf("o.l%d", i))
		switch i % 4 {
		case 0:
			want = append(want, "()")
		case 1:
			fill = append(fill, fmt.Sprintf("o.l%d = {%d, -1};", i, i))
			want = append(want, fmt.Sprintf("(%d, -1)", i))
		case 2: // it begins where nothing can be read
			fill = append(fill, fmt.Sprintf("words(&o.l%d)[0] = 8; words(&o.l%[1]d)[1] = 24;", i))
			want = append(want, "<fault>")
		case 3: // it ends before it begins
			fill = append(fill, fmt.Sprintf("words(&o.l%d)[0] = 24; words(&o.l%[1]d)[1] = 8;", i))
			want = append(want, "<fault>")
		}
	}
	source := "#include <vector>\n#include <unistd.h>\nstruct order { " + strings.Join(fields, " ") + " };\n" +
		"static long *words(void *p) { return (long *)p; }\n" +
		"__attribute__((noinline)) int look(order *o) { asm volatile(\"\"); return o->l0.size(); }\n" +
		"int main() { static order o; " + strings.Join(fill, " ") + " look(&o); _exit(0); }\n"
	binary := need.Built(t, "g++ -g -O0", "lists.cc", source)
	text := fmt.Sprintf("def f(e):\n    o = e.args.o\n    print(%s)\nprobe('uprobe:%s:look', f)\n",
		strings.Join(read, ", "), binary)
	e := startrace(t, "-q", script(t, text), "-c", binary).ok(t)
	if got, want := strings.TrimSpace(e.stdout), strings.Join(want, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	const most = 30_000 // it is 8,426 on 6.18
	if n := verifierWork(t, text); n == 0 || n > most {
		t.Errorf("the verifier followed %d instructions, want at most %d", n, most)
	}
}
