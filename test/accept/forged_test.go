package accept

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
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
