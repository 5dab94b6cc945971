package accept

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// partlyDescribed is a program of two files that have local variables of the same names.
var partlyDescribed = map[string]string{
	"first.c": `int shared = 5, hidden = 6;
static int limit = 11, lonely = 7;
static const int fixed = 3;
static __thread int own = 3;
int second(int n);
__attribute__((noinline)) int first(int n) { limit += n; lonely++; own++; return limit + lonely + own + fixed; }
int main(void) { return first(1) + second(1) == 0; }
`,
	"second.c": `extern int shared;
static int limit = 100, hidden = 200;
static __thread int own = 30;
__attribute__((noinline)) int second(int n) { limit += n; shared++; own++; return limit + own + hidden++; }
`,
}

// A variable outside of functions is never that of another source file where debug information does not tell of those
// of the function's own: one that all files share is known if no file can hide it.
//
// > Where the function's source file was compiled without `-g`, or with `-g1`, a name that is also that of a variable
// > that is local to some file is refused, too.
func TestGlobalsOfUndescribedFunctions(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, second := range []string{"gcc -O0", "gcc -O2", "gcc -g1 -O0", "gcc -ggdb1 -O2", "clang -O0", "clang -g1 -O0",
		"clang -gline-tables-only -O2"} {
		if strings.HasPrefix(second, "clang") {
			need.Program(t, "clang")
		}
		binary := need.BuiltOf(t, "gcc -g -O0", partlyDescribed)
		for _, command := range []string{"gcc -g -O0 -c first.c -o first.o", second + " -c second.c -o second.o",
			"gcc first.o second.o -o program"} {
			words := strings.Fields(command)
			build := exec.Command(words[0], words[1:]...)
			build.Dir = filepath.Dir(binary)
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", command, err, out)
			}
		}
		for variable, want := range map[string]string{"e.globals.limit": "", "e.globals.own": "",
			"e.globals.lonely": "", "e.globals.hidden": "", "e.globals.fixed": "", "e.globals.shared": "5",
			`getattr(e.globals, "@first.c:limit")`: "12", `getattr(e.globals, "@first.c:own")`: "4"} {
			text := `probe("uprobe:` + binary + `:second", lambda e: print(` + variable + `))`
			e := startrace(t, "-q", script(t, text), "-c", binary)
			const refused = "the source file of this function has no debug information of variables"
			if want != "" {
				equalLines(t, lines(e.ok(t).stdout), []string{want})
			} else if e.status == 0 || !strings.Contains(e.stderr, refused) {
				t.Errorf("%s: %s: %d %s%s", second, variable, e.status, e.stdout, e.stderr)
			}
		}
		const all = `print(e.globals.limit, e.globals.own, e.globals.hidden)`
		text := `probe("uprobe:` + binary + `:first", lambda e: ` + all + `)`
		equalLines(t, lines(startrace(t, "-q", script(t, text), "-c", binary).ok(t).stdout), []string{"11 3 6"})
	}
}
