package diff

import (
	"strings"
	"testing"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/ssagen"
	"github.com/startrace/startrace/test/need"
)

// TestLoops runs loops that the verifier would not follow to their ends if they
// stood in the program as they are: some in another form, which all kernels
// take, others by bpf_loop.
//
// > The kernel's verifier follows each round of a loop.
// > A loop that is too long for that is run by the kernel itself (`bpf_loop`, from Linux 5.17 on).
// > A round then takes some 9 ns instead of 6: `go test -run '^$' -bench Loops ./test/code`.
// > The kernel cannot run a loop that changes a tuple with a string, that takes a stack (take it before the loop), or
// > from which a string is returned.
func TestLoops(t *testing.T) {
	need.Loading(t)
	t.Run("followed", func(t *testing.T) { runLoops(t, "testdata/loops_followed.star", ssagen.BySize) })
	t.Run("called", func(t *testing.T) {
		if !atLeast(5, 17) {
			t.Skip("needs bpf_loop (Linux 5.17)")
		}
		runLoops(t, "testdata/loops_called.star", ssagen.BySize)
		runLoops(t, "testdata/loops_called.star", ssagen.AlwaysCall)
		runLoops(t, "testdata/loops_followed.star", ssagen.AlwaysCall)
	})
}

func runLoops(t *testing.T, file string, o ssagen.Outlining) {
	c := &checker{facts: facts(t), inputs: Inputs(2, 40), outlining: o}
	programs := written(t, file)
	for _, p := range programs {
		c.check([]*Program{p})
	}
	for _, f := range c.found {
		t.Error(f)
	}
	if c.excepted[longLoops] > 0 || c.programs != len(programs) {
		t.Errorf("%d loops were too long; %d of %d programs ran", c.excepted[longLoops], c.programs, len(programs))
	}
}

// A stack in a loop keeps the kernel from running it; one that was taken before does not.
func TestLoopOfStacks(t *testing.T) {
	need.Loading(t)
	for body, why := range map[string]string{"e.ustack(3) != s": "takes a stack", "s": ""} {
		p := &Program{Name: "f", Text: "def f(e):\n    s = e.ustack(3)\n    n = 0\n    for i in range(16000):\n" +
			"        n += i if " + body + " else e.args.u8\n        n = n * 3 if n % 7 == i else n\n    return n\n"}
		u, err := compileFor(scriptOf([]*Program{p}), facts(t), StrMax, options())
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, calls := range u.Calls {
			for _, c := range calls {
				if c.Rounds == 16000 && (c.Why == "") == (why == "") && strings.Contains(c.Why, why) {
					n++
				}
			}
		}
		if n != 1 && atLeast(5, 17) {
			t.Errorf("a loop with %s: %+v", body, u.Calls)
		}
	}
}

// TestLoopsWithout517 has no bpf_loop: what the verifier does not follow to its
// end is refused by the kernel, and the unit says which loop it is.
//
// > Where the kernel cannot run it, a constant loop is refused at its line.
// > A computed loop then has fewer steps than 4096, as many as its branches and what it does allow.
func TestLoopsWithout517(t *testing.T) {
	need.Loading(t)
	p := &Program{Name: "f", Text: `def f(e):
    n = 0
    for i in range(16000):
        if i & e.args.u8 == 1:
            n += i
        elif i & e.args.u16 == 2 or n % 100 == 3:
            n -= i
        elif n & 7 == 3 and i > 5:
            n += 2
    return n
`}
	o := options()
	o.HasLoop = false
	u, err := compileFor(scriptOf([]*Program{p}), facts(t), StrMax, o)
	if err != nil {
		t.Fatal(err)
	}
	// A log of all that the verifier follows would fill the memory of a guest.
	quiet := ebpf.CollectionOptions{Programs: ebpf.ProgramOptions{LogDisabled: true}}
	if loaded, err := ebpf.NewCollectionWithOptions(u.Spec, quiet); err == nil {
		loaded.Close()
		t.Error("the kernel takes a loop of 16000 rounds with branches")
	}
	for name, l := range u.Loops {
		if l.Pos.Line != 3 || l.Steps != 16000 || !strings.Contains(l.Why, "before Linux 5.17") {
			t.Errorf("%s: the loop to blame is %v of %d rounds: %s", name, l.Pos, l.Steps, l.Why)
		}
	}
	if len(u.Loops) != 1 {
		t.Errorf("%d loops to blame, want 1", len(u.Loops))
	}
}
