package diff

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/starlark/value"
	"github.com/startrace/startrace/test/need"
)

// Every operator of `t[k] op= v`, with v of every type, on entries of every type: what a kernel half makes of an entry
// is what the interpreter makes of it, in 64 bits; what user code makes of the same entry afterwards is that, too, or
// refused.

// updateOperators are those of both halves; the others run in user space only.
var (
	kernelOperators = []string{"+", "-", "*", "&", "|", "^"}
	userOperators   = append([]string{"//", "%", "<<", ">>"}, kernelOperators...)
)

// operands are v. An unsigned one makes entries unsigned where the operator keeps the sign.
var operands = []struct {
	text     string
	unsigned bool
}{
	{"e.args.u8", true}, {"e.args.u16", true}, {"e.args.u32", true}, {"e.args.u64", true},
	{"e.args.s8", false}, {"e.args.s16", false}, {"e.args.s32", false}, {"e.args.s64", false},
	{"1", false}, {"(-3)", false}, {"9223372036854775808", true}, {"len(e.args.s)", true}, {"int(e.args.flag)", true},
	{"(e.args.u64 if e.args.flag else 0)", true}, {"(e.args.s16 if e.args.flag else e.args.u64)", false},
}

// entries are what the entry holds before.
var entries = []struct {
	text           string // "": nothing
	unsigned, none bool
}{
	{"", true, false}, {"e.args.u64", true, false}, {"e.args.u8", true, false}, {"e.args.s32", false, false},
	{"7", false, false},
	{"(e.args.s64 if e.args.flag else None)", false, true}, {"(e.args.u32 if e.args.flag else None)", true, true},
}

// An opCase is one combination.
type opCase struct {
	name, op, operand, entry string
	unsigned                 bool // what the entry is read as
	cell                     bool
	n                        int
}

func opCases() (out []opCase) {
	add := func(c opCase) {
		c.n = len(out)
		c.name = fmt.Sprintf("f%d", c.n)
		out = append(out, c)
	}
	for _, v := range operands {
		for _, e := range entries {
			for _, op := range kernelOperators {
				add(opCase{op: op, operand: v.text, entry: e.text, unsigned: e.unsigned && v.unsigned &&
					strings.Contains("&|^", op)})
			}
		}
		add(opCase{op: "+", operand: v.text, cell: true})
	}
	return out
}

// program is what runs in the kernel.
func (c opCase) program() *Program {
	s := "def " + c.name + "(e):\n"
	if c.cell {
		return &Program{Name: c.name, Text: c.name + "_T = cell(0)\n" + s + "    " + c.name + "_T.add(" + c.operand +
			")\n"}
	}
	if c.entry != "" {
		s += "    " + c.name + "_T[1] = " + c.entry + "\n"
	}
	return &Program{Name: c.name, Text: c.name + "_T = table(size = 4)\n" + s + "    " + c.name + "_T[1] " + c.op +
		"= " + c.operand + "\n"}
}

// interpreter gives v and the entry for an input, as the interpreter has them; nil: there is none.
func (c opCase) interpreter(t *testing.T, text string, in Input) starlark.Value {
	if text == "" {
		return nil
	}
	v, err := starlark.EvalOptions(&syntax.FileOptions{}, &starlark.Thread{}, "op", text,
		starlark.StringDict{"e": eventOf(in, StrMax)})
	if err != nil {
		t.Fatal(c.name, text, err)
	}
	return v
}

func (c opCase) String() string {
	return strings.ReplaceAll(c.program().Script(), "\n", "; ")
}

// inWord is an int as an entry of 64 bits is read.
func (c opCase) inWord(v starlark.Value) starlark.Value {
	w := asInt
	if c.unsigned {
		w = asUint
	}
	out, err := wrapValue(w, v)
	if err != nil {
		panic(err)
	}
	return out
}

// fits reports whether an entry can hold v.
func (c opCase) fits(v starlark.Value) bool {
	n, ok := v.(starlark.Int)
	if !ok {
		return false
	}
	lo, hi := big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)
	if c.unsigned {
		lo, hi = big.NewInt(0), new(big.Int).SetUint64(math.MaxUint64)
	}
	return n.BigInt().Cmp(lo) >= 0 && n.BigInt().Cmp(hi) <= 0
}

func TestOpAssign(t *testing.T) {
	need.Loading(t)
	f := facts(t)
	inputs := slices.DeleteFunc(Inputs(5, 12), func(in Input) bool { return in.Texts[10].Fault }) // which has no len
	all := opCases()
	if testing.Short() { // each operator, operand and entry is among them
		all = slices.DeleteFunc(all, func(c opCase) bool { return c.n%5 != 0 })
	}
	for at := 0; at < len(all); at += perUnit {
		cases := all[at:min(len(all), at+perUnit)]
		var programs []*Program
		for _, c := range cases {
			programs = append(programs, c.program())
		}
		u, err := compile(scriptOf(programs), f, StrMax, false)
		if err != nil {
			t.Fatal(err)
		}
		m, err := load(u)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range cases {
			c.compare(t, m, i, inputs)
		}
		m.close()
	}
}

func (c opCase) compare(t *testing.T, m *machine, probe int, inputs []Input) {
	t.Helper()
	last := starlark.Value(starlark.MakeInt(0))
	for i, in := range inputs {
		v := c.interpreter(t, c.operand, in)
		before := c.interpreter(t, c.entry, in)
		if before == nil {
			before = last
		}
		want := before
		if before != starlark.None {
			sum, err := starlark.Binary(tokens[c.op], before, v)
			if err != nil {
				t.Fatal(c, err)
			}
			want = c.inWord(sum)
		}
		out, err := m.run(probe, in)
		if err != nil || (before == starlark.None) != (out.value == nil) {
			t.Errorf("%s: %v, %v, with %s", c, out, err, in)
			return
		}
		got := c.held(t, m)
		if !sameValue(got, want) {
			t.Errorf("%s: the kernel makes %s of %s and %s, want %s", c, got, before, v, want)
			return
		}
		last = c.inUserSpace(t, m, userOperators[i%len(userOperators)], got, v)
	}
}

// inUserSpace does the same to the entry that the kernel has filled: it gives what is there then.
func (c opCase) inUserSpace(t *testing.T, m *machine, op string, before, v starlark.Value) starlark.Value {
	t.Helper()
	if c.cell {
		op = "+"
	}
	want, refused := starlark.Binary(tokens[op], before, v)
	err := c.update(m, op, v)
	if refused != nil || !c.fits(want) {
		want = before
		if err == nil {
			t.Errorf("%s: user code: %s %s %s is not refused", c, before, op, v)
		}
	} else if err != nil {
		t.Errorf("%s: user code: %s %s %s: %v", c, before, op, v, err)
	}
	got := c.held(t, m)
	if !sameValue(got, want) {
		t.Errorf("%s: user code makes %s of %s %s= %s, want %s", c, got, before, op, v, want)
	}
	return got
}

func (c opCase) update(m *machine, op string, v starlark.Value) error {
	if cell, ok := m.state[c.name+"_T"].(*value.Cell); ok {
		return cell.Add(v.(starlark.Int))
	}
	return value.Update(m.state[c.name+"_T"], starlark.MakeInt(1), op, v)
}

// held is what the entry holds.
func (c opCase) held(t *testing.T, m *machine) starlark.Value {
	t.Helper()
	if cell, ok := m.state[c.name+"_T"].(*value.Cell); ok {
		v, err := cell.Value()
		if err != nil {
			t.Fatal(c, err)
		}
		return v
	}
	v, found, err := m.state[c.name+"_T"].(*value.Table).Get(starlark.MakeInt(1))
	if err != nil || !found {
		t.Fatal(c, "there is no entry:", err)
	}
	return v
}

var tokens = map[string]syntax.Token{
	"+": syntax.PLUS, "-": syntax.MINUS, "*": syntax.STAR, "//": syntax.SLASHSLASH, "%": syntax.PERCENT,
	"&": syntax.AMP, "|": syntax.PIPE, "^": syntax.CIRCUMFLEX, "<<": syntax.LTLT, ">>": syntax.GTGT,
}
