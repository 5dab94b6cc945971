package diff

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/ssagen"
	"github.com/startrace/startrace/test/need"
	"github.com/startrace/startrace/test/setting"
)

// perUnit is the number of programs that are compiled and loaded together.
const perUnit = 50

// TestPrograms runs random programs in the kernel and in the interpreter. DIFF_PROGRAMS is their number, DIFF_SEED the
// first seed; each program has the seed of its name, so DIFF_SEED=n DIFF_PROGRAMS=1 is that program alone.
//
// > A function of a script means the same in the Starlark interpreter and in the kernel.
// > The differential tests run random functions through both and compare.
// > This page names every place where the two are not the same, and what is refused instead.
func TestPrograms(t *testing.T) {
	random(t, &checker{}, 2000)
}

// TestSubprograms does it where each function that can be called is, instead of standing where it is called.
func TestSubprograms(t *testing.T) {
	if options().Outlining == ssagen.NeverCall {
		t.Skip("needs a kernel whose verifier can be trusted with subprograms (6.2): bpfgen.For")
	}
	c := &checker{outlining: ssagen.AlwaysCall}
	random(t, c, 300)
	if c.subs < c.programs/4 {
		t.Errorf("%d programs have %d subprograms: the test shows little", c.programs, c.subs)
	}
	t.Logf("%d subprograms", c.subs)
}

// longLoop is the program of testdata/found.star with a loop that the verifier of 5.10 does not follow to its end: it
// is run where there is bpf_loop.
const longLoop = 2

// TestFound runs the programs of testdata/found.star: generated ones that have found a mistake that no text in
// regress.star shows as well. Those with e.start are spans.
func TestFound(t *testing.T) {
	need.Loading(t)
	for i, p := range written(t, "testdata/found.star") {
		p.Span = strings.Contains(p.Text, "e.start")
		c := &checker{facts: facts(t), inputs: Inputs(1, 24)}
		c.check([]*Program{p})
		mayBeTooLong := i == longLoop && !atLeast(5, 17)
		if c.programs != 1 && !(mayBeTooLong && c.excepted[longLoops] == 1) {
			t.Errorf("program %d: %d ran, %d loops were too long", i, c.programs, c.excepted[longLoops])
		}
		for _, f := range c.found {
			t.Errorf("program %d: %s", i, f)
		}
	}
}

func random(t *testing.T, c *checker, otherwise int) {
	need.Loading(t)
	c.facts, c.inputs = facts(t), Inputs(1, 24)
	c.random(t, otherwise, Generate, (*checker).check)
	t.Logf("%d instructions a program, %d runs end with None", c.insns/max(1, c.programs), c.nones)
}

// random checks as many generated programs as howMany says, some at a time; generate may give none.
func (c *checker) random(t *testing.T, otherwise int, generate func(seed uint64, name string) *Program,
	check func(*checker, []*Program)) {
	t.Helper()
	n, seed := howMany(t, otherwise), setting.Int(t, "DIFF_SEED", 1)
	c.guests = guestsFor(c.inputs)
	begin := time.Now()
	for at := 0; at < n && len(c.found) < maxFindings; at += perUnit {
		var programs []*Program
		for i := at; i < min(n, at+perUnit); i++ {
			if p := generate(uint64(seed+i), fmt.Sprintf("f%d", seed+i)); p != nil {
				programs = append(programs, p)
			}
		}
		check(c, programs)
		if err := c.flush(at+perUnit >= n); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d programs, %d runs in %s: %d ended with an error; %s", c.programs, c.runs,
		time.Since(begin).Round(time.Millisecond), c.errors, c.exceptions())
	c.bounded(t)
	c.report(t, check)
}

// regress checks the programs of a file one by one, in each of some ways.
func (c *checker) regress(t *testing.T, file string, checks ...func(*checker, []*Program)) {
	t.Helper()
	for _, p := range written(t, file) {
		for _, check := range checks {
			check(c, []*Program{p})
		}
	}
	for _, f := range c.found {
		t.Error(f)
	}
}

// maxFindings ends a run: the rest is likely to be the same.
var maxFindings = 60

// howMany programs run: DIFF_PROGRAMS, or so many. In the short form, which guests have, it is few: with DIFF_KERNEL
// more of them run there than the guests can compile.
func howMany(t *testing.T, otherwise int) int {
	if testing.Short() {
		otherwise = 50
	}
	return setting.Int(t, "DIFF_PROGRAMS", otherwise)
}

// report makes the findings small and prints each kind of text once.
func (c *checker) report(t *testing.T, check func(*checker, []*Program)) {
	seen := map[string]int{}
	for _, f := range c.found {
		seed := f.program.Name
		small := c.shrink(f, check)
		key := f.kind + shape(small.detail, f.kind)
		seen[key]++
		if seen[key] > 2 {
			t.Errorf("%s again: %s", seed, strings.SplitN(small.detail, "\n", 2)[0])
			continue
		}
		t.Errorf("%s: %s", seed, small)
		o := c.options()
		o.Dump = true
		if u, err := compileFor(scriptOf([]*Program{small.program}), c.facts, StrMax, o); err == nil &&
			os.Getenv("DIFF_DUMP") != "" {
			for _, d := range u.Dumps {
				t.Logf("%s\n%s\n%s", d.Tree, d.Opt, d.Asm)
			}
		}
	}
}

var programName = regexp.MustCompile(`(program p\d+_diff: |diff.star:[0-9:]+ )`)

// shape is what findings of the same cause have in common.
func shape(detail, kind string) string {
	if kind == "refused" || kind == "rejected" {
		detail = programName.ReplaceAllString(detail, "")
		return detail[:min(len(detail), 40)]
	}
	return ""
}

// shrink gives the smallest program that shows the same. It changes the program of f.
func (c *checker) shrink(f *finding, check func(*checker, []*Program)) *finding {
	smallest := f
	inputs := c.inputs
	if f.kind == "differs" && !f.program.keepsState() {
		inputs = []Input{f.in}
	}
	deadline := time.Now().Add(20 * time.Second)
	Shrink(f.program, func(p *Program) bool {
		if time.Now().After(deadline) {
			return false
		}
		one := &checker{facts: c.facts, inputs: inputs, outlining: c.outlining}
		check(one, []*Program{p})
		for _, g := range one.found {
			if g.kind == f.kind && shape(g.detail, g.kind) == shape(f.detail, f.kind) {
				smallest = g
				return true
			}
		}
		return false
	})
	return smallest
}

// TestRegress runs the programs of testdata, each of which differed once.
//
// > A value of weight 0 is none: it changes no lowest and no highest one.
func TestRegress(t *testing.T) {
	need.Loading(t)
	for _, outlining := range []ssagen.Outlining{ssagen.BySize, ssagen.AlwaysCall} {
		c := &checker{facts: facts(t), inputs: Inputs(2, 40), outlining: outlining}
		c.regress(t, "testdata/regress.star", (*checker).check)
	}
}

// written are the programs of a file, each of which has a function f. Those that read through pointers spell out for
// the reference what that is.
func written(t *testing.T, file string) (out []*Program) {
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range strings.Split(strings.TrimSuffix(string(src), "\n"), "\n---\n") {
		text, ref, _ := strings.Cut(text, "\n=== the reference\n")
		p := &Program{Name: "f", Text: text + "\n"}
		if ref != "" {
			p.RefText = ref + "\n"
		}
		out = append(out, p)
	}
	return out
}

// TestUpdatesBefore512 compiles updates of entries for kernels that have no atomics but addition: the others load and
// store there, and mean the same otherwise.
//
// > `|= &= ^= *=` are atomic from 5.12 on.
// > Before, two CPUs that change the same entry at the same time can lose one of the changes.
func TestUpdatesBefore512(t *testing.T) {
	need.Loading(t)
	src := "f_T = table()\nf_C = cell(0)\ndef f(e):\n    f_C.add(e.args.s8)\n"
	ref := src
	for i, op := range []string{"+", "-", "*", "&", "|", "^"} {
		src += fmt.Sprintf("    f_T[%d] %s= e.args.s16\n", i, op)
		ref += fmt.Sprintf("    _update(f_T, %q, \"_s\", %d, e.args.s16)\n", op, i)
	}
	p := &Program{Name: "f", Text: src, RefText: ref}
	f := facts(t)
	for _, without := range []bool{false, true} {
		if old() && !without {
			continue
		}
		o := options()
		o.NoCmpXchg = without
		u, err := compileFor(scriptOf([]*Program{p}), f, StrMax, o)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := exchanges(u), !without; got != want {
			t.Errorf("without %v: atomics that give the old value: %v", without, got)
		}
		c := &checker{facts: f, inputs: Inputs(2, 40)}
		c.execute([]*Program{p}, u)
		for _, f := range c.found {
			t.Error(f)
		}
	}
}

// exchanges reports whether a unit has an atomic operation other than addition.
func exchanges(u *bpfgen.Unit) bool {
	for _, p := range u.Spec.Programs {
		for _, ins := range p.Instructions {
			if ins.OpCode.Class() == asm.StXClass && ins.OpCode.Mode() == asm.AtomicMode &&
				ins.OpCode.AtomicOp() != asm.AddAtomic {
				return true
			}
		}
	}
	return false
}
