package diff

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
	"github.com/startrace/startrace/test/setting"
)

// A recordGen writes functions of another kind than Generate does: helpers with string parameters, strings compared by
// order and chosen by and, or and conditions, all of it in records of many fields. Kernels before 5.12 are not sure of
// the length of a string that came over several ways, and refuse what such a length does on a way that is never taken.
type recordGen struct {
	r       *rand.Rand
	helpers int
	vars    []string // of type string
}

func (g *recordGen) pick(list ...string) string { return list[g.r.IntN(len(list))] }

// text is an expression of a string that is there: no None.
func (g *recordGen) text(depth int) string {
	if depth == 0 || g.r.IntN(3) == 0 {
		if g.r.IntN(3) > 0 {
			return g.pick(g.vars...)
		}
		return g.pick(append(g.vars, `""`, `"abc"`, `"passwd"`, `"0123456789"`)...)
	}
	x, y := g.text(depth-1), g.text(depth-1)
	switch g.r.IntN(5) {
	case 0:
		return fmt.Sprintf("(%s or %s)", x, y)
	case 1:
		return fmt.Sprintf("(%s and %s)", x, y)
	case 2:
		if g.helpers > 0 {
			return fmt.Sprintf("F_h%d(e, %s, %s)", g.r.IntN(g.helpers), x, y)
		}
	}
	return fmt.Sprintf("(%s if %s else %s)", x, g.cond(depth-1), y)
}

func (g *recordGen) cond(depth int) string {
	x := g.text(max(0, depth))
	switch g.r.IntN(7) {
	case 0:
		return x + g.pick(`.startswith("0")`, `.endswith("d")`, `.endswith("")`)
	case 1:
		return fmt.Sprintf("len(%s) %s %s", x, g.pick(">", "==", "<="), g.pick("3", "0", "31", "len("+g.text(0)+")"))
	case 2:
		return g.pick(`"ss" in `, `"a" in `) + x
	case 3:
		return fmt.Sprintf("e.args.%s %s %s", g.pick("u8", "s64", "u16", "u32"), g.pick(">", "=="),
			g.pick("0", "1", "e.args.s8"))
	case 4:
		return fmt.Sprintf("(%s %s %s)", g.cond(depth-1), g.pick("or", "and"), g.cond(depth-1))
	}
	return fmt.Sprintf("%s %s %s", x, g.pick(">", "<", ">=", "==", "!=", "<="), g.text(max(0, depth-1)))
}

func (g *recordGen) number(depth int) string {
	switch g.r.IntN(4) {
	case 0:
		return "len(" + g.text(depth) + ")"
	case 1:
		return fmt.Sprintf("(%s if %s else %s)", g.pick("1", "e.args.u64", "e.args.s32"), g.cond(depth),
			g.pick("2", "e.args.u16"))
	case 2:
		return "int(" + g.cond(depth) + ")"
	}
	return g.pick("e.args.u8", "e.args.u16", "e.args.u32", "e.args.u64", "e.args.s8", "e.args.s64")
}

// program is a function f with its helpers.
func (g *recordGen) program(name string) *Program {
	var b strings.Builder
	for i := range 1 + g.r.IntN(3) {
		g.vars = []string{"a", "b"}
		fmt.Fprintf(&b, "def F_h%d(e, a, b):\n", i)
		for range g.r.IntN(3) {
			fmt.Fprintf(&b, "    if %s:\n        return %s\n", g.cond(1), g.text(1))
		}
		fmt.Fprintf(&b, "    return %s\n", g.text(2))
		g.helpers = i + 1
	}
	g.vars = []string{"x", "y"}
	b.WriteString("def F(e):\n    x, y = e.args.s, e.args.t\n")
	b.WriteString("    if x == FAULT or y == FAULT:\n        return None\n")
	for i := range g.r.IntN(4) {
		fmt.Fprintf(&b, "    v%d = %s\n", i, g.text(2))
		g.vars = append(g.vars, fmt.Sprintf("v%d", i))
	}
	var fields []string
	for i := range g.r.IntN(9) {
		fields = append(fields, fmt.Sprintf("n%d = %s", i, g.number(2)))
	}
	for i := range 1 + g.r.IntN(3) {
		fields = append(fields, fmt.Sprintf("s%d = %s", i, g.text(2)))
	}
	g.r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	fmt.Fprintf(&b, "    return record(%s)\n", strings.Join(fields, ", "))
	return &Program{Name: name, Text: strings.NewReplacer("FAULT", "FAULT", "F", name).Replace(b.String())}
}

// TestRecordsOfStrings loads and compares such functions.
func TestRecordsOfStrings(t *testing.T) {
	need.Loading(t)
	n, seed := setting.Int(t, "DIFF_RECORDS", 10), setting.Int(t, "DIFF_SEED", 1)
	c := &checker{facts: facts(t), inputs: Inputs(5, 12)}
	for i := seed; i < seed+n && len(c.found) < maxFindings; i++ {
		g := &recordGen{r: rand.New(rand.NewPCG(uint64(i), 0x5ec))}
		c.check([]*Program{g.program(fmt.Sprintf("f%d", i))})
	}
	t.Logf("%d programs, %d runs, %d ended with an error, %d with None", c.programs, c.runs, c.errors, c.nones)
	for _, f := range c.found {
		if strings.Contains(f.detail, "BPF program is too large") {
			t.Logf("%s has more branches than the verifier follows", f.program.Name)
			continue // docs/semantics.md names that limit
		}
		what, _, _ := strings.Cut(f.detail, ", with ")
		t.Errorf("%s: %s\n%s", f.kind, what, f.program.Script())
	}
}
