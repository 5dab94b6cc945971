package accept

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// forged prints names in each way that a script has.
const forged = `
probe("syscall:openat", lambda e: say(e.comm, e.args.filename), where = lambda e: "forge" in e.args.filename)

def say(comm, name):
    base = name.split("/")[-1]
    print("print", comm, base, "own\tnew\nline")
    printf("printf %s %s\n", comm, base)
    print("joined %s,\n%s" % (comm, base))
    print([comm, base])
    print(sprintf("sprintf %s\t%s", comm, base))
`

// The name of a file or of a program forges no line, and a script's own line feeds stay.
func TestForgedNames(t *testing.T) {
	needTracing(t)
	name := filepath.Join(t.TempDir(), "for")
	command := script(t, fmt.Sprintf(`printf 'x\033[1m\ty' > /proc/$$/comm
: > "$(printf '%%s' '%sge
b	c')"
`, name))
	e := startrace(t, "-q", script(t, forged), "-c", "sh "+command).ok(t)
	const comm, base = `x\x1b[1m\ty`, `forge\nb\tc`
	want := "print " + comm + " " + base + " own\tnew\nline\n" +
		"printf " + comm + " " + base + "\n" +
		"joined " + comm + ",\n" + base + "\n" +
		`["x\x1b[1m\ty", "forge\nb\tc"]` + "\n" +
		"sprintf " + comm + "\t" + base + "\n"
	if e.stdout != want {
		t.Errorf("got\n%q\nwant\n%q", e.stdout, want)
	}
}

// The name of a function, which stands in a file that anybody can have made, forges no line either, whether a probe has
// one point or several, and whatever a script makes of it.
func TestForgedFunctions(t *testing.T) {
	const innocent, name, shown = "evilXforgedQ", "evil\nforged\x1b", `evil\nforged\x1b`
	made := need.Built(t, "gcc -O1", "evil.c", "void __attribute__((noinline)) "+innocent+
		"(void) { __asm__ volatile(\"\"); }\nint main(void) { "+innocent+"(); return 0; }\n")
	bin := filepath.Join(t.TempDir(), "evil")
	file, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bin, bytes.ReplaceAll(file, []byte(innocent), []byte(name)), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"uprobe", "ufunc", "uretprobe"} {
		for _, pattern := range []string{"evil?f*", "[em][va]i*"} { // the second one is main, too
			point := kind + ":" + bin + ":" + pattern
			e := startrace(t, "-q", script(t, fmt.Sprintf(`
def f(e):
    print(e.func)
    printf("%%s %%s\n", e.func, e.probe)
    print("<" + e.func + ">", e.func.lower(), [e.func], len(e.func))
probe(%q, f, where = lambda e: e.func != "main")
`, point)), "-c", bin).ok(t)
			of := kind + ":" + bin + ":" + shown
			want := shown + "\n" + shown + " " + of + "\n<" + shown + "> " + shown + ` ["` + shown + `"] 12` + "\n"
			if e.stdout != want {
				t.Errorf("%s: got\n%q\nwant\n%q", point, e.stdout, want)
			}
		}
	}
}

// evil has names of all kinds in its debug information.
const evil = `#include <unistd.h>
enum stateXforgedQ { enumXforgedQ = 1, otherXforgedQ };
struct structXforgedQ { int fieldXforgedQ; enum stateXforgedQ st; };
int globalXforgedQ = 7;
static int __attribute__((noinline)) workXforgedQ(struct structXforgedQ *pointerXforgedQ, enum stateXforgedQ s) {
	int localXforgedQ = getppid() + pointerXforgedQ->fieldXforgedQ + s;
	__asm__ volatile("" : : "r"(localXforgedQ) : "memory");
	return localXforgedQ + globalXforgedQ;
}
int main(void) {
	struct structXforgedQ x = {3, enumXforgedQ};
	return workXforgedQ(&x, enumXforgedQ) == 0;
}
`

// evilScript shows them in each way that a script has.
const evilScript = `
n = count()
m = count()

def f(e):
    print(e.func, e.source, e.args)
    printf("%%s|%%v\n", e.source, e.args)
    print("<" + e.source + ">", e.source.upper(), [e.source], names(e.args.s))
    n[e.source, e.func, names(e.args.s)].add()

probe(%[1]q, f)
probe(%[1]q)
probe(%[1]q, kernel = lambda e: m[e.source, names(e.args.s)].add())
probe(%[1]q, lambda e: print(e.value), kernel = lambda e: (e.source, names(e.args.s)))
`

// So do the names that debug information has of files, functions, arguments, variables, types and constants, which are
// constants of programs in the kernel, in each format and by each command that shows them.
func TestForgedDebugInformation(t *testing.T) {
	needTracing(t)
	made := need.Built(t, "gcc -g -O1", "evilXforgedQ.c", evil)
	bin := filepath.Join(t.TempDir(), "evil")
	file, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	file = bytes.ReplaceAll(file, []byte("XforgedQ"), []byte("\nforged\x1b"))
	if err := os.WriteFile(bin, file, 0o700); err != nil {
		t.Fatal(err)
	}
	point := "uprobe:" + bin + ":work*"
	path := script(t, fmt.Sprintf(evilScript, point))
	for _, args := range [][]string{
		{path, "-c", bin}, {"--format", "json", path, "-c", bin}, {"--format", "csv", path, "-c", bin},
		{"trace", point, "-v", "-c", bin}, {"list", "-v", point}, {"list", "uprobe:" + bin + ":@*"},
		{"list", "-v", "uprobe:" + bin + ":@*:*"}, {"explain", path}, {"explain", "--types", path},
		{"explain", "--ir", path}, {"explain", "--asm", path}, {"audit", path}, {"verify", path},
	} {
		e := startrace(t, args...).ok(t)
		for _, shown := range []string{e.stdout, e.stderr} {
			if strings.Contains(shown, "\nforged") || strings.Contains(shown, "\x1b") {
				t.Errorf("%q: a name is shown as it is:\n%q", args, excerpt(shown))
			}
		}
	}
}
