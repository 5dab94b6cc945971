package accept

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// What cannot be read or named says why.
//
// > What a class has from a virtual base is not read: it has no fixed place in the class.
// > A colon ends the path of a program: one with a colon in it is named by a link, or left out with `-p` and `-c`.
func TestReasons(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, command := range []string{"g++ -g -O0", "g++ -g -O0 -gdwarf-4", "clang++ -g -O0"} {
		binary := need.Built(t, command, "virtual.cc", `
struct base { int vb = 3; };
struct first : virtual base { int m1 = 4; };
struct second : virtual base { int m2 = 5; };
struct both : first, second { int d = 6; };
__attribute__((noinline)) int f(both *b) { return b->vb + b->d; }
int main() { both b; return f(&b) != 9; }
`)
		e := startrace(t, "-q", "-e", `probe("uprobe:`+binary+`:f", lambda e: print(e.args.b.d, e.args.b.m2))`, "-c",
			binary).ok(t)
		if e.stdout != "6 5\n" {
			t.Errorf("%s: %q", command, e.stdout)
		}
		e = startrace(t, "-q", "-e", `probe("uprobe:`+binary+`:f", lambda e: print(e.args.b.vb))`, "-c", binary)
		want := "struct both has no field vb that can be read: those of a virtual base have no fixed place in it"
		if e.status == 0 || !strings.Contains(e.stderr, want) {
			t.Errorf("%s: got %q, want %q", command, e.stderr, want)
		}
	}
	binary := need.Built(t, "gcc -O0", "plain.c", "int main(void) { return 0; }")
	colon := filepath.Join(filepath.Dir(binary), "a:b")
	if err := os.Rename(binary, colon); err != nil {
		t.Fatal(err)
	}
	e := startrace(t, "-q", "-e", `probe("uprobe:`+colon+`:main", lambda e: print(e.func))`, "-c", colon)
	if want := "a colon ends the path; name " + colon + " by a link to it"; e.status == 0 ||
		!strings.Contains(e.stderr, want) {
		t.Errorf("got %q, want %q", e.stderr, want)
	}
	e = startrace(t, "-q", "-e", `probe("uprobe:main", lambda e: print(e.func))`, "-c", colon).ok(t)
	if e.stdout != "main\n" {
		t.Errorf("%q", e.stdout)
	}
}
