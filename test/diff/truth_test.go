package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// tested are values of which the truth is asked. A table is true while it has entries, which only user space can ask.
var tested = []string{
	"None", "FAULT", "0", "1", `""`, `"a"`, "()", "(0,)", "record()", "record(a = None)", "F_R", "F_C", "F_N",
	"F_N[1]", "F_L", "F_E", "F_D", "F_P", "len", "F_f", "(lambda: None)", "range(0)", "range(100)", "range(3, 3)",
	"range(200, 100)", "range(200, 100, -1)", "range(e.args.u8)", "range(e.args.s8)", "range(e.args.u8, e.args.s8)",
	"range(e.args.u8, e.args.s8, -2)", "e.args.u8", "e.args.s", "e.args.p", "(() if e.args.flag else FAULT)",
	"(record() if e.args.flag else None)", "((0,) if e.args.flag else None)", "e.args.p.ints", "e.args.p.inner",
	"F_T", "F_G",
}

const testedConstants = `F_R, F_C, F_N, F_G, F_T, F_P = record(), cell(0), count(), group(n = count()), table(), range(0)
F_L, F_E, F_D = [], [1], {}
def F_f():
    return 1
`

// TestTruth asks for the truth of each in both halves, in each way. That of a table changes while the script runs.
//
// > A table is true while it has entries: `if not seen:`. A kernel half cannot ask that, and is refused. Cells and
// > aggregations are always true.
func TestTruth(t *testing.T) {
	need.Loading(t)
	kernelHalf := &checker{facts: facts(t), inputs: Inputs(3, 8)}
	userHalf := &checker{facts: kernelHalf.facts, inputs: kernelHalf.inputs}
	for i, x := range tested {
		name := fmt.Sprintf("f%d", i)
		fill := "F_T[e.args.u8] = 1" // from the first event on
		text := testedConstants + `def F_all(e):
    was = "yes" if x$ else "no"
    ` + fill + `
    if not x$:
        was = "not"
    return (was, bool(x$), not not x$, not x$, 2 if x$ or e.args.flag else 3, 4 if not (x$ and 1) else 5)
`
		text = strings.NewReplacer("F_all", name, "F_", name+"_").Replace(strings.ReplaceAll(text, "x$", x))
		program := []*Program{{Name: name, Text: text}}
		userHalf.checkPlaced(program)
		if x != "F_T" {
			kernelHalf.check(program)
			continue
		}
		_, err := compileFor(scriptOf(program), kernelHalf.facts, StrMax, options())
		if err == nil || !strings.Contains(err.Error(), "is true while it has entries") {
			t.Errorf("the truth of a table in a kernel half: %v", err)
		}
	}
	for _, c := range []*checker{kernelHalf, userHalf} {
		for _, f := range c.found {
			t.Errorf("%s: %s\n%s", f.kind, f.detail, f.program.Text[strings.Index(f.program.Text, "def f"):])
		}
	}
}
