package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// compared are values that are compared with each other: tuples and records of the same elements, by other names, in
// other orders, in one another, as constants, and such as may be missing.
var compared = []string{
	"1", "e.args.u8", "None", "FAULT", "()", "(1,)", "(e.args.u8,)", "((1,),)", "(FAULT,)", "(None,)", "F_T",
	"(record(p = 1),)", "record()", "record(p = 1)", "record(q = 1)", "record(p = e.args.u8)",
	"record(q = e.args.u8)", "record(p = 1, q = e.args.s8)", "record(q = e.args.s8, p = 1)",
	"record(p = e.args.s8, q = 1)", "record(p = record(q = 1))", "record(p = record(p = e.args.u8))",
	"record(p = (1,))", "record(p = None)", "record(p = FAULT)", "record(p = None, q = 1)", "F_A", "F_B", "F_C", "F_P",
	"(record(p = 1) if e.args.flag else None)", "(record(q = e.args.u8) if e.args.flag else None)",
	"(record(p = 1) if e.args.flag else record(p = 2))", "((1,) if e.args.flag else FAULT)",
	"(record(p = 1) if e.args.flag else FAULT)", "(record(q = e.args.s8, p = 1) if e.args.flag else None)",
}

const comparedConstants = `F_A, F_B, F_C = record(p = 1), record(q = 1, p = None), record(p = None, q = 1)
F_T, F_P = (1,), record(p = record(q = 1))
F_D = {(1,): "tuple", record(q = 1): "q", record(p = 1): "p", record(p = None, q = 1): "pq", (record(p = 1),): "in"}
`

// TestCompared compares each with each, and looks it up, in both halves. A kernel half is asked in a program for each
// value, a user half, which folds what is known, in the same.
//
// > A tuple and a record are of two kinds. Of two records the names decide, not their order:
// > `record(a = 1, b = 2) == record(b = 2, a = 1)`.
func TestCompared(t *testing.T) {
	need.Loading(t)
	kernelHalf := &checker{facts: facts(t), inputs: Inputs(3, 6)}
	kernelHalf.inputs[0].Words[0], kernelHalf.inputs[1].Words[0] = 1, 1 // e.args.u8
	kernelHalf.inputs[0].Words[9], kernelHalf.inputs[1].Words[9] = 0, 1 // e.args.flag
	userHalf := &checker{facts: kernelHalf.facts, inputs: kernelHalf.inputs}
	for i, x := range compared {
		name := fmt.Sprintf("f%d", i)
		var parts []string
		for _, y := range compared {
			parts = append(parts, fmt.Sprintf("%s == %s", x, y), fmt.Sprintf("%s != %s", x, y))
		}
		parts = append(parts, fmt.Sprintf("%s in F_D", x), fmt.Sprintf("F_D.get(%s, \"no\")", x))
		for _, y := range []string{"(1, F_A)", "((1,), 2)", "(F_C, (), record())", "[record(q = e.args.u8), None]"} {
			parts = append(parts, fmt.Sprintf("%s in %s", x, y))
		}
		text := strings.NewReplacer("F_", name+"_").Replace(comparedConstants + "def " + name + "(e):\n    return (" +
			strings.Join(parts, ",\n        ") + ")\n")
		program := []*Program{{Name: name, Text: text}}
		kernelHalf.check(program)
		userHalf.checkPlaced(program)
	}
	for _, c := range []*checker{kernelHalf, userHalf} {
		for _, f := range c.found {
			t.Errorf("%s: %s", f.kind, f.detail)
		}
		if c.programs != len(compared) {
			t.Errorf("%d programs ran, want %d", c.programs, len(compared))
		}
	}
}
