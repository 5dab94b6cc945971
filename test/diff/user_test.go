package diff

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/script"
	"github.com/startrace/startrace/test/need"
)

// In user space a function is what it is for the interpreter: numbers have no limit, nothing is refused. What the
// compiler does is to find which parts of the event it uses, to read them in the kernel, and to make a copy of the
// function that gets them. So the script itself is the reference, called with an event that has everything.

// handlers is the script of programs that run in user space: a list cannot be made in the kernel.
func handlers(programs []*Program, text func(*Program) string) string {
	s := ""
	for _, p := range programs {
		s += text(p) + fmt.Sprintf("def %s_user(e):\n    return [%s(e)]\nprobe(\"rawtracepoint:diff\", %s_user)\n",
			p.Name, p.Name, p.Name)
	}
	return s
}

// spelled is what the reference has instead of what only the kernel can do.
const spelled = `
def _cast(name, x):
    if x == FAULT:
        return x
    bits = int(name[1:])
    low = x & ((1 << bits) - 1)
    return low - (1 << bits) if name[0] == "s" and low >> (bits - 1) else low

def _sizeof(name):
    return 160
`

// ofKernel finds the numbers of the kernel's types: these scripts declare none of their own.
func ofKernel(btf *kernel.BTF) func(string, ...plan.TypesText) (kernel.Type, bool) {
	return func(name string, _ ...plan.TypesText) (kernel.Type, bool) { return btf.Number(name) }
}

func host(src string, facts *kernel.Facts) (*script.Host, error) {
	btf, err := facts.BTF()
	if err != nil {
		return nil, err
	}
	h := script.New(script.Options{Constant: kernel.Constant, StrMax: StrMax, Runtime: builtins.Idle{},
		Labels: machineLabels, Number: ofKernel(btf)})
	if err := h.ParseText("diff.star", []byte(src)); err != nil {
		return nil, err
	}
	return h, h.Run(nil)
}

// inferred is what the compiler finds, of which containers of user space know the parts of their keys.
func inferred(h *script.Host, facts *kernel.Facts) (*infer.Result, error) {
	res, err := infer.Plan(h.Plan(), facts, infer.Options{})
	if err != nil {
		return nil, err
	}
	for id, parts := range res.KeyParts {
		h.Env().Containers()[id].SetKeyParts(parts)
	}
	return res, nil
}

// userHalves compiles the handlers and gives the copies, by the probe.
func userHalves(src string, facts *kernel.Facts) (h *script.Host, res *infer.Result, u *bpfgen.Unit, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	if h, err = host(src, facts); err != nil {
		return nil, nil, nil, err
	}
	if res, err = inferred(h, facts); err != nil {
		return nil, nil, nil, err
	}
	u, err = bpfgen.Generate(res.Tree, options())
	return h, res, u, err
}

// checkUser compares the programs in user space; what fails is noted.
func (c *checker) checkUser(programs []*Program) {
	src := handlers(programs, (*Program).Script)
	failed := func(err error) { c.apart(programs, err, c.checkUser) }
	h, res, u, err := userHalves(src, c.facts)
	if err != nil {
		failed(err)
		return
	}
	c.on(u, programs, func(m *machine) { c.compareUsers(m, programs, h, res) }, failed)
}

// readByKernel is what it says of a table that a kernel half reads and the handler of a start in user space changes.
const readByKernel = "is read by the filter of this probe when an event happens, but changed here in user space"

// pointerLoop is a loop over pointers, by its variable.
var pointerLoop = regexp.MustCompile(`for (\w+) in [[(][^:\n]*\be\.args\.p\b[^:\n]*:`)

// readsLoopInside reports whether a function inside reads the variable of a loop over pointers, which docs/semantics.md
// says is refused.
func readsLoopInside(script string) bool {
	for _, loop := range pointerLoop.FindAllStringSubmatch(script, -1) {
		reads := `[^\n]*\b` + loop[1] + `\b`
		inside := regexp.MustCompile(`(?m)^\s+def [^\n]*(\n\s[^\n]*)*` + reads + `|lambda` + reads)
		if inside.MatchString(script) {
			return true
		}
	}
	return false
}

// apart checks the halves of what was refused together. A program whose handler wants a part of the event that user
// space chooses is refused as it should be.
func (c *checker) apart(programs []*Program, err error, check func([]*Program)) {
	half := len(programs) / 2
	switch {
	case half > 0:
		check(programs[:half])
		check(programs[half:])
	case strings.Contains(err.Error(), wideConstant):
		c.except(wideFolded, programs[0])
	case strings.Contains(err.Error(), readByKernel) && programs[0].BeginName != "":
		c.except(startInUser, programs[0])
	case strings.Contains(err.Error(), tooMuchMemory):
		c.except(overMemory, programs[0])
	case strings.Contains(err.Error(), tooMuchStack):
		c.except(overStack, programs[0])
	case readsLoopInside(programs[0].Script()) && (strings.Contains(err.Error(), chosen) ||
		strings.Contains(err.Error(), inUserSpace)):
		c.except(loopRead, programs[0])
	case strings.Contains(err.Error(), chosen):
		c.except(partChosen, programs[0])
	case strings.Contains(err.Error(), inUserSpace):
		c.except(argumentChosen, programs[0])
	case errors.Is(err, errWideKey):
		c.except(wideKey, programs[0])
	case tooLong(programs[0], err):
		c.except(longLoops, programs[0])
	case branchesOver(programs[0], err):
		c.except(manyBranches, programs[0])
	default:
		c.note("refused", programs[0], "%v", err)
	}
}

func (c *checker) compareUsers(m *machine, programs []*Program, h *script.Host, res *infer.Result) {
	text := handlers(programs, (*Program).Reference)
	ref, err := host(text+spelled, c.facts)
	if err != nil {
		c.note("reference", programs[0], "%v", err)
		return
	}
	for i, p := range programs {
		c.programs++
		if res.Halves[i] == nil {
			c.note("placed", p, "the handler has no user half")
			continue
		}
		if err := m.refused(i); err != nil {
			c.refusedBy(p, err)
			continue
		}
		fn, err := h.Specialise(res.Halves[i], m.event)
		if err != nil {
			c.note("refused", p, "%v", err)
			continue
		}
		c.compareUser(m, p, i, fn, h, ref, strings.Count(text, "\n"))
	}
}

// compareUser compares a program with the reference, whose text has so many lines in front of spelled.
func (c *checker) compareUser(m *machine, p *Program, probe int, fn starlark.Callable, h, ref *script.Host, lines int) {
	for _, in := range c.inputs {
		want := outcomeOf(starlark.Call(ref.Thread(), ref.Handler(probe), starlark.Tuple{eventOf(in, StrMax)}, nil))
		got, err := m.deliver(probe, in, func() outcome {
			return outcomeOf(starlark.Call(h.Thread(), fn, starlark.Tuple{m.event}, nil))
		})
		if err != nil {
			c.note("rejected", p, "%v", err)
			return
		}
		c.runs++
		if want.value == nil {
			c.errors++
		}
		if want.line > lines { // it failed in one of spelled
			want.line = got.line
		}
		kind := ""
		switch {
		case !same(got, want):
			kind = "differs"
		case got.line != want.line:
			kind = "place"
		}
		if kind != "" {
			c.note(kind, p, "the user half gives %s, the interpreter %s, with %s", got, want, in)
			c.found[len(c.found)-1].in = in
			return
		}
	}
}

// deliver runs the program and calls f with the record as m.event.
func (m *machine) deliver(probe int, in Input, f func() outcome) (out outcome, err error) {
	if err := m.trigger(m.names[probe], in); err != nil {
		return outcome{}, err
	}
	n, err := m.drain(func(buf []byte) {
		m.event.Set(m.unit.Tree.Records[binary.NativeEndian.Uint32(buf[wire.HeaderNumber:])], buf)
		out = f()
	})
	if err == nil && n != 1 {
		failed, _ := m.failure()
		err = fmt.Errorf("the handler got %d records; the kernel half: %s", n, failed)
	}
	return out, err
}

// TestUserHalves runs random functions in user space with what the kernel read for them.
func TestUserHalves(t *testing.T) {
	need.Loading(t)
	c := &checker{facts: facts(t), inputs: leadingOn(Inputs(3, 12))}
	c.random(t, 300, GenerateUser, (*checker).checkUser)
	// One in a thousand is refused on average, so of ten thousand there may be ten, and as many more as chance has.
	n := howMany(t, 300)
	usual := n / 1000
	chance := int(3 * math.Sqrt(float64(usual)))
	if refused := c.excepted[partChosen] + c.excepted[argumentChosen]; refused > 1+usual+chance {
		t.Errorf("%d programs of %d are refused, though those for user space need not be", refused, n)
	}
}

// TestUserRegress runs the programs of testdata/user.star.
func TestUserRegress(t *testing.T) {
	need.Loading(t)
	c := &checker{facts: facts(t), inputs: Inputs(4, 40)}
	c.regress(t, "testdata/user.star", (*checker).checkUser)
}
