package accept

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// What a program is replaced by is known by its own debug information, which has other places and names.
//
// > If another file gets the name of one with probes during the run, as in an upgrade or by a compiler, they are
// > attached in that one, too, and a message says so.
func TestReplacedKeepsTypes(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	source := func(before string) string {
		return "struct s { " + before + "int v; };\n" +
			"__attribute__((noinline)) int work(struct s *p, int k) { " + strings.Repeat("k++; ", len(before)) +
			"__asm__ volatile(\"\" : : : \"memory\");\n\treturn p->v + k; }\n" +
			"int main(void) { struct s s = {.v = 40}; return work(&s, 2) == 0; }\n"
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "app")
	install := func(name, command, before string) {
		if err := os.Rename(need.Built(t, command, "p.c", source(before)), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	install("app", "gcc -g -O0", "")
	install("second", "gcc -g -O0", "long a; ")
	install("third", "gcc -g -O0 -gdwarf-4", "long a, b; ")
	file := script(t, strings.ReplaceAll(`
probe("ufunc:BIN:work", lambda e: print("call", e.args.p.v, e.ret - e.args.p.v))
probe("uprobe:BIN:p.c:3", lambda e: print("line", e.vars.p.v, e.vars.k))
`, "BIN", path))
	command := path + ".sh" // a line of standard input lets it go on
	text := fmt.Sprintf("for f in 1 2 3; do read x; %s; done\n", path)
	if err := os.WriteFile(command, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := withMessages(t, file, "-c", "sh "+command)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r := interact(t, cmd)
	for i, name := range []string{"", "second", "third"} {
		if name != "" {
			if err := os.Rename(filepath.Join(dir, name), path); err != nil {
				t.Fatal(err)
			}
			points := "ufunc:" + path + ":work, uprobe:" + path + ":p.c:3"
			r.awaitBegin(t, path+" is another file now: attached "+points+" there, too; ")
		}
		if _, err := io.WriteString(in, "\n"); err != nil {
			t.Fatal(err)
		}
		k := 2 + len([]string{"", "long a; ", "long a, b; "}[i])
		r.await(t, fmt.Sprintf("line 40 %d", k))
		r.await(t, fmt.Sprintf("call 40 %d", k))
	}
	r.end(t).ok(t)
}
