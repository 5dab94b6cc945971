package diff

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/script"
	"github.com/startrace/startrace/starlark/value"
	"github.com/startrace/startrace/test/need"
)

// A handler that can run in the kernel means the same in user space: the programs of the kernel's generator, as
// handlers that are placed there, with what the kernel reads for them. The reference is the one that kernel halves are
// compared with, without the limits of 64 bits.

// exactInts follows the text of the reference and takes the place of what it calls: ints of user space have no limit.
const exactInts = `
def _s(x): return x
def _u(x): return x
def _a(x): return x
def _shr(x, n): return x >> n
def _update(t, op, _, k, v): _exact(t, k, op, v)
def _add_s(t, k, v = 1): _exact(t, k, "+", v)
def _add_u(t, k, v = 1): _exact(t, k, "+", v)
def _cell_add(c, v = 1): c.add(v)
`

// chosen is what the compiler says of a part of the event that only user space could choose (docs/semantics.md).
const chosen = "user space decides which part of the event this is"

// inUserSpace is what it says of an argument of cast, mem and their like that only user space knows.
const inUserSpace = "but an argument is computed in user space later"

// inUser compiles the programs as handlers that run in user space.
func (c *checker) inUser(programs []*Program) (h *script.Host, res *infer.Result, u *bpfgen.Unit, err error) {
	src := ""
	for _, p := range programs {
		src += p.Script() + fmt.Sprintf("def %s_user(e):\n    return [%s(e)]\nprobe(%s, %s_user)\n", p.Name, p.Name,
			p.point(), p.Name)
	}
	if h, err = host(src, c.facts); err != nil {
		return nil, nil, nil, err
	}
	if res, err = inferred(h, c.facts); err != nil {
		return nil, nil, nil, err
	}
	u, err = bpfgen.Generate(res.Tree, options())
	return h, res, u, err
}

// checkPlaced runs the programs in user space.
func (c *checker) checkPlaced(programs []*Program) {
	failed := func(err error) { c.apart(programs, err, c.checkPlaced) }
	h, res, u, err := c.inUser(programs)
	if err != nil {
		failed(err)
		return
	}
	c.on(u, programs, func(m *machine) { c.compareAllPlaced(m, programs, h, res) }, failed)
}

func (c *checker) compareAllPlaced(m *machine, programs []*Program, h *script.Host, res *infer.Result) {
	src := ""
	for _, p := range programs {
		src += p.Reference() + "\n\n\n" // what stands behind the script
	}
	ref, err := newReference(src + exactInts)
	if err != nil {
		c.note("reference", programs[0], "%v", err)
		return
	}
	for i, p := range programs {
		c.programs++
		if err := m.refused(i); err != nil {
			c.refusedBy(p, err)
			continue
		}
		fn, err := h.Specialise(res.Halves[i], m.event)
		if err != nil {
			c.note("refused", p, "%v", err)
			continue
		}
		c.comparePlaced(&placed{m: m, ref: ref, host: h, fn: fn, probe: i, program: p, lines: strings.Count(src, "\n")})
	}
}

// A placed program is one that runs in user space.
type placed struct {
	m       *machine
	ref     *reference
	host    *script.Host
	fn      starlark.Callable
	probe   int
	program *Program
	lines   int // of the reference without exactInts
}

func (c *checker) comparePlaced(p *placed) {
	runtime.LockOSThread() // spans without a key belong to a thread
	defer runtime.UnlockOSThread()
	for i, in := range c.inputs {
		end := in
		if p.program.Span {
			end = c.inputs[(i+1)%len(c.inputs)]
			begin := func() (outcome, error) { return p.m.begin(p.probe, in) }
			if !c.step(p.program, in, p.ref.begin(p.program, in), begin) {
				return
			}
		}
		want := p.ref.run(p.program, end)
		got, err := p.run(end)
		if want.line > p.lines {
			want.line = got.line // it failed in one of exactInts
		}
		if !c.step(p.program, end, want, func() (outcome, error) { return got, err }) {
			return
		}
	}
}

func (p *placed) run(in Input) (outcome, error) {
	var out outcome
	if err := p.m.trigger(p.m.names[p.probe], in); err != nil {
		return outcome{}, err
	}
	n, err := p.m.drain(func(buf []byte) {
		p.m.event.Set(p.m.unit.Tree.Records[binary.NativeEndian.Uint32(buf[wire.HeaderNumber:])], buf)
		out = outcomeOf(starlark.Call(p.host.Thread(), p.fn, starlark.Tuple{p.m.event}, nil))
	})
	switch {
	case err != nil:
		return outcome{}, err
	case n == 0: // no start, or an error of the kernel half
		return p.m.failure()
	}
	if list, ok := out.value.(*starlark.List); ok {
		out.value = list.Index(0)
	}
	return out, nil
}

// alike leaves out what docs/semantics.md says is not the same: keys of spans stay in the kernel, whose ints they have.
func alike(p *Program) bool { return p.Key == nil }

// TestPlacedInUser runs random programs of kernel halves in user space.
func TestPlacedInUser(t *testing.T) {
	need.Loading(t)
	c := &checker{facts: facts(t), inputs: Inputs(3, 12)}
	c.random(t, 300, func(seed uint64, name string) *Program {
		if p := Generate(seed, name); alike(p) {
			return p
		}
		return nil
	}, (*checker).checkPlaced)
}

// TestPlacedRegress runs the programs of testdata/placed.star, each of which differed once, on both sides.
func TestPlacedRegress(t *testing.T) {
	need.Loading(t)
	c := &checker{facts: facts(t), inputs: Inputs(4, 24)}
	c.regress(t, "testdata/placed.star", (*checker).check, (*checker).checkPlaced)
}

// > `" ".join(list)` of a list that cannot be read at all is FAULT.
func TestJoinOfFault(t *testing.T) {
	need.Loading(t)
	in := Inputs(1, 1)[0]
	in.P = Nowhere
	c := &checker{facts: facts(t)}
	programs := []*Program{{Name: "f", Text: "def f(e):\n    return \" \".join(e.args.p.argv)\n"}}
	u, err := compileFor(scriptOf(programs), c.facts, StrMax, options())
	if err != nil {
		t.Fatal(err)
	}
	m, err := load(u)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	if got, err := m.run(0, in); err != nil || got.value != value.FAULT {
		t.Errorf("the kernel gives %s, %v", got, err)
	}
	h, res, u, err := c.inUser(programs)
	if err != nil {
		t.Fatal(err)
	}
	user, err := load(u)
	if err != nil {
		t.Fatal(err)
	}
	defer user.close()
	fn, err := h.Specialise(res.Halves[0], user.event)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := (&placed{m: user, host: h, fn: fn}).run(in); err != nil || got.value != value.FAULT {
		t.Errorf("user space gives %s, %v", got, err)
	}
}
