package accept

import (
	"fmt"
	"path/filepath"
	"testing"
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
