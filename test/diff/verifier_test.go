package diff

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/ssagen"
	"github.com/startrace/startrace/test/need"
)

// stringTests are conditions that need a loop over strings.
var stringTests = []string{
	`"b" in e.args.s`, `"b" in v`, `e.args.s < e.args.t`, `e.args.s < v`, `e.args.s == e.args.t`, `e.args.s == v`,
	`T[1] == T[2]`, `T[1] < e.args.s`, `"b" in T[1]`, `len(T[1]) > 3`, `T[1].endswith("b")`, `e.comm < "b"`,
	`e.comm.endswith("x")`, `e.args.s.endswith("/etc")`,
	`len(C[1]) > 3`, `C[1] < e.args.s`, `"b" in C[1]`, `C[1] == e.args.t`,
	// One that may be None is asked whether it is, and then for its number.
	`(None if e.args.s < e.args.t else e.args.u8) == 7`,
	`(None if e.args.s < e.args.t else e.args.s64) in (7, 8, 9)`,
	`(e.args.u8, (None if e.args.s < e.args.t else e.args.p.s64)) == (3, 7)`,
	`(e.args.u8 if e.args.s < e.args.t else 5) in C`,
	// The number by which a float is compared asks for it several times.
	`(e.args.p.real if "b" in e.args.s else e.args.p.reals[0]) == 0.5`,
	`(None if e.args.s < e.args.t else e.args.p.real) == 9007199254740993.0`,
	`(e.args.p.real if e.args.s > e.args.t else None) != (e.args.p.reals[1] if e.args.u8 else None)`,
}

// mostWork is the number of instructions that the verifier may follow for four such tests with strings of the usual
// length. Its limit is a million.
const mostWork = 300_000

// TestVerifierWork tests several strings in one program, each with an effect of its own: the work of the verifier must
// be their sum, not their product.
func TestVerifierWork(t *testing.T) {
	need.Loading(t)
	f := facts(t)
	for _, test := range stringTests {
		src := "T, C = table(size=8), table(size=8)\ndef f(e):\n    T[0], C[0] = e.args.s, e.comm\n" +
			"    v = e.args.s if e.args.flag else e.args.t\n    n = 0\n"
		for i := range 4 {
			src += fmt.Sprintf("    n = n * %d + (%d if %s else e.args.u8)\n", i+3, i, test)
		}
		u, err := compile(scriptOf([]*Program{{Name: "f", Text: src + "    return n\n"}}), f, 256, false)
		if err != nil {
			t.Fatalf("%s: %v", test, err)
		}
		n, err := verifierWork(u.Spec)
		switch {
		case err != nil:
			t.Errorf("%s: %v", test, err)
		case n > mostWork:
			t.Errorf("%s: the verifier followed %d instructions, want at most %d", test, n, mostWork)
		default:
			t.Logf("%s: %d", test, n)
		}
	}
}

// chosenTexts are texts that are chosen by their order among others that were.
const chosenTexts = `T = table(size = 8)
def f(e):
    T[1] = max(e.args.s, max(e.args.s, e.args[11]))
    T[2] = e.args.s or "a"
    x = ("/etc/passwd" if e.args.p.flag else e.args.p.name) or e.args.t
    T[3] = max(e.args.s, max(e.args.p.str, max(T.pop(4, None) or x, e.args.s, e.args.t), "/etc"), e.args.s)
    T[4] = min(x, max(T.pop(3, None) or e.args.s, min(e.args[11], x)), e.args.p.str) or x
    return len(x) if x < e.args.s else len(e.args.t)
`

// TestVerifierWorkOfOrder: where the kernel goes through texts that are compared by their order, its verifier follows
// little of each comparison, whatever it knows of the texts.
func TestVerifierWorkOfOrder(t *testing.T) {
	need.Loading(t)
	if o := options(); !o.HasLoop || o.Outlining == ssagen.NeverCall {
		t.Skip("needs a kernel to whose bpf_loop texts are left (6.2)")
	}
	f := facts(t)
	u, err := compile(scriptOf([]*Program{{Name: "f", Text: chosenTexts}}), f, 256, false)
	if err != nil {
		t.Fatal(err)
	}
	n, err := verifierWork(u.Spec)
	if err != nil || n > mostWork {
		t.Errorf("the verifier followed %d instructions, want at most %d (%v)", n, mostWork, err)
	}
	t.Logf("the verifier followed %d instructions", n)
}

// TestVerifierWorkOfCalls: a subprogram is followed at each call as if it stood there, and costs little more.
func TestVerifierWorkOfCalls(t *testing.T) {
	need.Loading(t)
	f := facts(t)
	src := `T = table(size = 8)
def g(s, x):
    n = x
    if "b" in s:
        n += 1
    elif s < "bcd":
        n = n * 3 ^ x
    if n & 4:
        T[n & 7] = x
    return n // 3 if n > 100 else n
def f(e):
    n = g(e.args.s, e.args.s64)
    n = g(e.args.t, n)
    n = g(e.args.s, n + 5)
    return g(e.args.t, n + 9)
`
	work := map[ssagen.Outlining]int{}
	for _, o := range []ssagen.Outlining{ssagen.NeverCall, ssagen.AlwaysCall} {
		u, err := compileFor(scriptOf([]*Program{{Name: "f", Text: src}}), f, 64, (&checker{outlining: o}).options())
		if err != nil {
			t.Fatal(err)
		}
		if work[o], err = verifierWork(u.Spec); err != nil {
			t.Fatal(err)
		}
	}
	inlined, called := work[ssagen.NeverCall], work[ssagen.AlwaysCall]
	t.Logf("the verifier followed %d instructions of inlined functions, %d of called ones", inlined, called)
	if called > inlined*3/2 {
		t.Errorf("the verifier followed %d instructions of called functions, %d of inlined ones", called, inlined)
	}
}

var processed = regexp.MustCompile(`processed (\d+) insns`)

func verifierWork(spec *ebpf.CollectionSpec) (int, error) {
	c, err := ebpf.NewCollectionWithOptions(spec,
		ebpf.CollectionOptions{Programs: ebpf.ProgramOptions{LogLevel: ebpf.LogLevelStats}})
	if err != nil {
		return 0, err
	}
	defer c.Close()
	for _, p := range c.Programs {
		if m := processed.FindStringSubmatch(p.VerifierLog); m != nil {
			return strconv.Atoi(m[1])
		}
	}
	return 0, fmt.Errorf("the verifier's log does not say how much it did")
}
