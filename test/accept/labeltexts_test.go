package accept

import (
	"fmt"
	"strings"
	"testing"
)

// Texts of labels beside those of other kinds, each pair of them, as keys, as parts of keys and as values: what a
// handler puts there the other one finds, whatever side makes the text.
//
// > Texts of other labels, as `n[errno(e.ret)]`, share a container with other texts, too, and then handlers run in user
// > space: of a table and a cell all that use it, of an aggregation those whose text is not of the first kind.
// > So it is with the name, the module and the file of a frame of a stack: `n[e.stack()[0].name]` and `n[e.comm]`.
func TestLabelsBesideTexts(t *testing.T) {
	needTracing(t)
	texts := []string{`errno(-2)`, `signal(9)`, `names(e.args.count, "O_")`, `e.comm`, `e.func`, `inet(e.args.fd)`,
		`syscall_name(1)`, `names(1, "SEEK_")`, `ksym(0x801)`, `dev_name(0x801)`, `mac(mem(e.args[1], 6))`,
		`strftime("%Y", 0)`, `"text"`, `e.probe`, `cstr(e.args[1])`, `e.ustack()[0].name`, `e.ustack()[0].module`}
	for i, text := range texts[1:] {
		t.Run(text, func(t *testing.T) { labelsBesideTexts(t, texts[:i+1], text) })
	}
}

// labelsBesideTexts has a text beside each of others. They are no more than 30, for two probes each: where the kernel
// preempts programs (7.2) system calls end at a perf event, which runs 64 programs.
func labelsBesideTexts(t *testing.T, others []string, text string) {
	var s, done strings.Builder
	for i, other := range others {
		s.WriteString(pairOfLabels(other, text, fmt.Sprint(i)))
		fmt.Fprintf(&done, "    done%d()\n", i)
	}
	s.WriteString("def done():\n" + done.String() + "at_exit(done)\n")
	e := startrace(t, "-q", script(t, s.String()), "-c", "dd if=/dev/zero of=/dev/null bs=64 count=3 status=none").ok(t)
	if got := strings.Count(e.stdout, "right\n"); got != len(others) {
		t.Errorf("%d of %d pairs are right:\n%s%s", got, len(others), e.stdout, e.stderr)
	}
}

// pairOfLabels is a script whose first handler has the text x, the second one y.
func pairOfLabels(x, y, pair string) string {
	text := `
nPAIR, pPAIR, tPAIR, vPAIR, cPAIR = count(), count(), table(), table(), cell(None)
def xPAIR(e):
    x = X
    nPAIR[x].add()
    pPAIR[1, x].add()
    tPAIR[x] = tPAIR.get(x, 0) + 1
    vPAIR[1] = x
def yPAIR(e):
    x = Y
    nPAIR[x].add()
    pPAIR[1, x].add()
    tPAIR[x] = tPAIR.get(x, 0) + 1
    vPAIR[2] = x
    cPAIR.set((x, vPAIR.get(1)))
probe("syscall:{write,writev}", xPAIR, where = lambda e: e.args[2] == 64)
probe("syscall:{write,writev}", yPAIR, where = lambda e: e.args[2] == 64)
def donePAIR():
    x, y = vPAIR[1], vPAIR[2]
    want = sorted({x: 3, y: 3}.items()) if x != y else [(x, 6)]
    got = (sorted(nPAIR.items()), sorted([(k[1], v) for k, v in pPAIR.items()]), sorted(tPAIR.items()), cPAIR.get())
    first = dict(want)[x]
    found = (nPAIR[x].value, pPAIR[1, y].value, x in tPAIR, tPAIR[y], tPAIR.pop(x), x in tPAIR)
    right = got == (want, want, want, (y, x)) and found == (first, first, True, first, first, False)
    print("right" if right else "wrong", "" if right else (x, y, got, found), sep = "")
`
	return strings.NewReplacer("PAIR", pair, " X\n", " "+x+"\n", " Y\n", " "+y+"\n").Replace(text)
}
