package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// asked are values of which it is asked what they have behind a dot.
var asked = []string{
	"None", "FAULT", "True", "1", `""`, `"a"`, `b"a"`, "()", "(1,)", "record()", "record(a = 1)",
	"record(upper = 2, a = 3)",
	"F_R", "F_L", "F_D", "F_T", "F_C", "F_N", "F_N[1]", "F_G", "F_G[1]", "F_G[1].a", "F_f", "len", "(lambda: None)",
	"F_P",
	"(1, 2)", "e.args.u8", "e.args.s", "e.args.flag", "e.args.p.name", "e.args.p.str",
	"e.args.p.ints", "(e.args.s if e.args.flag else None)", "(None if e.args.flag else \"text\")",
	"(FAULT if e.args.flag else record(a = 1))", "(record(a = e.args.u8) if e.args.flag else None)",
	"(record(a = e.args.u8) if e.args.flag else record(a = 7))", "(e.args.u8 if e.args.flag else None)",
	"((1, 2) if e.args.flag else None)", "signal(e.args.u8)", "(signal(e.args.u8) if e.args.flag else None)",
	"range(e.args.u8)", "range(100)", "e.args.p.argv",
}

const askedConstants = `F_R, F_L, F_D, F_T, F_C = record(upper = 1, a = None), [1], {1: 2}, table(), cell(0)
F_N, F_G, F_P = count(), group(a = count(), upper = total()), (1, 2)
def F_f():
    return 1
`

// TestAttributes asks each, in both halves, for names that some values have.
func TestAttributes(t *testing.T) {
	need.Loading(t)
	kernelHalf := &checker{facts: facts(t), inputs: Inputs(3, 8)}
	userHalf := &checker{facts: kernelHalf.facts, inputs: kernelHalf.inputs}
	for i, x := range asked {
		name := fmt.Sprintf("f%d", i)
		var parts []string
		for _, attr := range []string{"nope", "upper", "a", "a_", "elems", "get", "add", "append", "folded",
			"keys", "value"} {
			parts = append(parts, fmt.Sprintf("hasattr(%s, %q)", x, attr))
		}
		parts = append(parts, fmt.Sprintf(`getattr(%s, "nope", 5)`, x))
		if strings.Contains(x, "record(") {
			parts = append(parts, fmt.Sprintf(`getattr(%s, "a", None)`, x))
		}
		text := strings.NewReplacer("F_", name+"_").Replace(askedConstants + "def " + name + "(e):\n    " +
			name + "_T[e.args.u8] = 1\n    return (" + strings.Join(parts, ",\n        ") + ")\n")
		program := []*Program{{Name: name, Text: text}}
		kernelHalf.check(program)
		userHalf.checkPlaced(program)
	}
	for _, c := range []*checker{kernelHalf, userHalf} {
		for _, f := range c.found {
			_, of, _ := strings.Cut(f.program.Text, "hasattr(")
			t.Errorf("%s, of %.60s: %s", f.kind, of, f.detail)
		}
		if c.programs != len(asked) {
			t.Errorf("%d programs ran, want %d", c.programs, len(asked))
		}
	}
}
