package infer_test

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/bpfgen/infer"
)

// textKinds are expressions of which scripts see a text, one of each kind.
var textKinds = []string{
	`e.comm`, `"abc"`, `e.func`, `e.probe`, `syscall_name(e.args.fd)`, `errno(e.ret)`, `signal(e.args.fd)`,
	`names(e.args.fd, "O_")`, `names(e.args.fd, "SEEK_")`, `ksym(e.args.fd)`, `inet(e.args.fd)`,
	`mac(mem(e.args.buf, 6))`, `dev_name(e.args.fd)`, `strftime("%H", e.time)`, `cstr(e.args.buf)`,
	`e.stack()[0].name`, `e.stack()[1].module`, `e.stack()[0].file`,
}

// textUses are handlers that have texts X and Y of two kinds in one place.
var textUses = []string{
	"def h(e): n[X if e.args.fd == 1 else Y].add()",
	"def h(e): n[(X if e.args.fd == 1 else Y), 7].add()",
	"def w(e):\n    if e.args.fd == 1: return X\n    return Y\ndef h(e): n[w(e)].add()",
	"def h(e):\n    x = X\n    if e.args.fd == 1: x = Y\n    c.set((x, 1))",
	"def h(e): t[1] = record(a = X if e.args.fd == 1 else Y)",
	"def h(e):\n    n[X].add()\n    n[Y].add()",
	"def h(e):\n    n[1, X].add()\n    n[1, Y].add()",
	"def h(e):\n    g[X].n.add()\n    g[Y].n.add()",
	"def h(e):\n    t[X] = 1\n    t[Y] = 2",
	"def h(e):\n    t[X, 1] = 1\n    t[Y, 1] = 2",
	"def h(e):\n    t[1] = X\n    t[2] = Y",
	"def h(e):\n    t[1] = (1, record(a = X))\n    t[2] = (1, record(a = Y))",
	"def h(e):\n    c.set(X)\n    c.set(Y)",
	"def h(e):\n    if X == Y: n[\"same\"].add()",
	"def h(e):\n    if X in (Y, \"other\"): n[\"same\"].add()",
}

// Texts of any two kinds can be in one place of a handler. Where a script says that the kernel must have both, a
// refusal says what to write instead.
func TestTextsOfAnyKindsTogether(t *testing.T) {
	facts := testFacts(t)
	compiled := func(text string) error {
		_, err := infer.Plan(planOf(t, "n, t, c, g = count(), table(), cell(None), group(n = count())\n"+text), facts,
			infer.Options{})
		return err
	}
	for i, x := range textKinds {
		for _, y := range textKinds[:i] {
			both := strings.NewReplacer("X", x, "Y", y)
			for _, use := range textUses {
				text := both.Replace(use) + "\nprobe(\"syscall:{read,write}\", h)\n"
				if err := compiled(text); err != nil {
					t.Errorf("%s%v", text, err)
				}
			}
			for _, k := range []string{
				"def k(e): return record(x = X if e.args.fd == 1 else Y)",
				"def k(e):\n    if e.args.fd == 1: return X\n    return Y",
				"def k(e):\n    if e.args.fd == 1: return record(y = 1, x = X)\n    return record(y = 2, x = Y)",
				"def k(e):\n    n[X].add()\n    n[Y].add()\n    return True",
				"def k(e):\n    t[1] = X\n    t[2] = Y\n    return True",
			} {
				text := both.Replace(k) + "\nprobe(\"syscall:{read,write}\", lambda e: print(e), kernel = k)\n"
				if err := compiled(text); err != nil && !advises(err.Error()) {
					t.Errorf("%s%v", text, err)
				}
			}
		}
	}
}

// advises reports whether a message says what to write in place of texts of two kinds.
func advises(message string) bool {
	for _, advice := range []string{"in a variable, a container or a field of its own",
		"write None instead of the string", "a second count keeps them apart in the kernel",
		"a second table keeps them apart in the kernel"} {
		if strings.Contains(message, advice) {
			return true
		}
	}
	return false
}
