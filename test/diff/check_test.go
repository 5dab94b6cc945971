package diff

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/ssagen"
	"github.com/startrace/startrace/internal/kernel"
)

// A finding is a program that the compiler or the kernel refuses, or that means something else in the kernel.
type finding struct {
	kind    string // refused, rejected, differs, place
	program *Program
	detail  string
	in      Input
}

func (f *finding) String() string {
	return fmt.Sprintf("%s: %s\n%s", f.kind, f.detail, f.program.Script())
}

// checker compares programs on inputs.
type checker struct {
	facts     *kernel.Facts
	inputs    []Input
	found     []*finding
	outlining ssagen.Outlining
	subs      int // subprograms
	guests    *guests
	closing   sync.WaitGroup // stages that are taken down
	// Counts of runs: compared, those that ended with an error, with None.
	runs, errors, nones, programs, insns int
	excepted                             map[exception]int
}

func (c *checker) note(kind string, p *Program, format string, args ...any) {
	c.found = append(c.found, &finding{kind: kind, program: p, detail: fmt.Sprintf(format, args...)})
}

// wideConstant is what the compiler says of constants that were folded into one of more bits than a word has, where
// the low ones alone would give something else.
const wideConstant = "an int of a kernel half has 64"

// tooMuchMemory is what it says of a handler that builds more strings, keys and records than 32760 bytes hold, as joins
// of a char ** in a loop that is written out (docs/semantics.md).
const tooMuchMemory = "bytes of memory for its strings, keys and records"

// tooMuchStack is what it says of a handler that keeps more values at the same time than 512 bytes hold, as places of
// tables and a dozen stacks (docs/semantics.md).
const tooMuchStack = "bytes of values at the same time"

// check compiles the programs as one unit. What is refused is noted and left out.
func (c *checker) check(programs []*Program) {
	for len(programs) > 0 {
		src := scriptOf(programs)
		u, err := compileFor(src, c.facts, StrMax, c.options())
		var diags refusal.Diags
		switch {
		case err == nil:
			for _, calls := range u.Calls {
				for _, call := range calls {
					if call.Insns > 0 {
						c.subs++
					}
				}
			}
			c.execute(programs, u)
			return
		case errors.As(err, &diags):
			programs = keep(programs, c.refused(programs, diags))
		case len(programs) == 1 && strings.Contains(err.Error(), tooMuchMemory):
			c.except(overMemory, programs[0])
			return
		case len(programs) == 1 && strings.Contains(err.Error(), tooMuchStack):
			c.except(overStack, programs[0])
			return
		case len(programs) == 1:
			c.note("refused", programs[0], "%v", err)
			return
		default:
			c.halves(programs)
			return
		}
	}
}

// refused notes the programs that the compiler refuses.
func (c *checker) refused(programs []*Program, diags refusal.Diags) map[*Program]bool {
	bad := map[*Program]bool{}
	for _, d := range diags {
		p := programAt(programs, int(d.Pos.Line))
		switch {
		case bad[p]:
		case strings.Contains(d.Msg, wideConstant):
			c.except(wideFolded, p)
		default:
			c.note("refused", p, "%s", d.Msg)
		}
		bad[p] = true
	}
	return bad
}

func (c *checker) options() bpfgen.Options {
	o := options()
	if o.Outlining != ssagen.NeverCall { // the kernel cannot be trusted with subprograms
		o.Outlining = c.outlining
	}
	return o
}

func (c *checker) halves(programs []*Program) {
	half := len(programs) / 2
	c.check(programs[:half])
	c.check(programs[half:])
}

func keep(programs []*Program, bad map[*Program]bool) []*Program {
	var out []*Program
	for _, p := range programs {
		if !bad[p] {
			out = append(out, p)
		}
	}
	return out
}

// programAt is the program in which a line of scriptOf stands.
func programAt(programs []*Program, line int) *Program {
	for _, p := range programs {
		n := strings.Count(p.Script(), "\n") + 1
		if line <= n {
			return p
		}
		line -= n
	}
	return programs[len(programs)-1]
}

// rejected takes out the program that an error of the loader names.
func (c *checker) rejected(programs []*Program, u *bpfgen.Unit, err error) {
	if errors.Is(err, errWideKey) {
		c.apart(programs, err, c.check)
		return
	}
	for _, p := range u.Tree.Programs {
		if strings.Contains(err.Error(), "program "+p.Name+":") {
			c.refusedBy(programs[p.Probe], err)
			c.check(keep(programs, map[*Program]bool{programs[p.Probe]: true}))
			return
		}
	}
	c.note("rejected", programs[0], "%+v", err)
}

// loops are those of a program, written out or not. The join of a char ** is one, too.
var loops = regexp.MustCompile(`(?m)^ +for \w|"\.join\(.*argv`)

// branches are the words by which a program goes two ways. One of 100,000 programs, of 400 instructions and 40 such
// words, has more ways than the verifier of 6.18 follows in a million steps: docs/semantics.md names that bound. The
// lesser and the greater of two strings are two ways, too.
var branches = regexp.MustCompile(`\b(if|and|or|not)\b|\b(min|max)\(`)

// tooLong reports whether the verifier gave up on a loop, as the documentation says that it may. EFAULT is too many
// branches that it has not followed yet.
func tooLong(p *Program, err error) bool {
	return loops.MatchString(p.Script()) && (errors.Is(err, unix.E2BIG) || errors.Is(err, unix.EFAULT))
}

// branchesOver reports whether the verifier gave up on the branches of a program that has many.
func branchesOver(p *Program, err error) bool {
	return errors.Is(err, unix.E2BIG) && len(branches.FindAllString(p.Script(), -1)) >= 20
}

// execute loads the unit and runs all programs on all inputs.
func (c *checker) execute(programs []*Program, u *bpfgen.Unit) {
	for _, s := range u.Spec.Programs {
		c.insns += len(s.Instructions)
	}
	then := func(m *machine) { c.compareAll(programs, m) }
	c.on(u, programs, then, func(err error) { c.rejected(programs, u, err) })
}

func (c *checker) compareAll(programs []*Program, m *machine) {
	src := ""
	for _, p := range programs {
		src += p.Reference() + "\n" // a line for probe()
	}
	r, err := newReference(src)
	if err != nil {
		if len(programs) > 1 {
			c.halves(programs)
		} else {
			c.note("reference", programs[0], "%v\n%s", err, src)
		}
		return
	}
	for i, p := range programs {
		if err := m.refused(i); err != nil {
			c.refusedBy(p, err)
			continue
		}
		c.programs++
		c.compare(m, r, i, p)
	}
}

// refusedBy notes that the kernel refused a program.
func (c *checker) refusedBy(p *Program, err error) {
	switch {
	case tooLong(p, err):
		c.except(longLoops, p)
	case branchesOver(p, err):
		c.except(manyBranches, p)
	default:
		c.note("rejected", p, "%+v", err)
	}
}

func (c *checker) compare(m *machine, r *reference, probe int, p *Program) {
	runtime.LockOSThread() // spans without a key belong to a thread
	defer runtime.UnlockOSThread()
	for i, in := range c.inputs {
		end := in
		if p.Span {
			end = c.inputs[(i+1)%len(c.inputs)]
			if !c.step(p, in, r.begin(p, in), func() (outcome, error) { return m.begin(probe, in) }) {
				return
			}
		}
		if !c.step(p, end, r.run(p, end), func() (outcome, error) { return m.run(probe, end) }) {
			return
		}
	}
	if diff := m.compareState(r, p); diff != "" {
		c.note("differs", p, "%s", diff)
	}
}

// step compares one run; it reports whether the next one can be compared.
func (c *checker) step(p *Program, in Input, want outcome, run func() (outcome, error)) bool {
	if want.skip {
		c.except(notDocumented, p)
		return !p.keepsState() // it is not known any more
	}
	got, err := run()
	if errors.Is(err, errFull) {
		c.except(fullTable, p)
		return false
	}
	if err != nil {
		c.note("rejected", p, "%v", err)
		return false
	}
	c.runs++
	if want.value == nil {
		c.errors++
	} else if want.value.Type() == "NoneType" {
		c.nones++
	}
	kind := ""
	switch {
	case !same(got, want):
		kind = "differs"
	case got.value == nil && got.line != want.line:
		kind = "place"
	}
	if kind == "" {
		return true
	}
	c.note(kind, p, "the kernel gives %s, the interpreter %s, with %s", got, want, in)
	c.found[len(c.found)-1].in = in
	return false
}

var stateful = regexp.MustCompile(`\b(table|cell|count|total|mean|lowest|highest|stats|hist|lhist|quantiles|group)\(`)

// keepsState reports whether a run depends on those before.
func (p *Program) keepsState() bool { return p.Span || stateful.MatchString(p.Script()) }
