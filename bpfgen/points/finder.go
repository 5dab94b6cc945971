// Package points finds what the points of a probe mean on this kernel: which tracepoints, functions, system calls and
// instructions a pattern matches, what is behind each, and which of the kernel's ways to attach goes there.
//
// The patterns of a probe come to targets (Target). Behind a target is a source, of a type for each thing that can
// happen: a tracepoint, functions, calls of functions, system calls, a timer, a span of the script. A source is data:
// it says how its points are called, which arguments they have and how a program is attached. What a probe does there
// is package infer's affair. Which kinds of points a script can name is internal/point's; kinds.go has a row for each,
// with the function that expands its patterns.
//
// What is wrong with a point, or cannot be had on this kernel, ends the search with a refusal. What there is to say
// besides is in what was found (Found).
package points

import (
	"debug/dwarf"
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/internal/binary"
	"github.com/startrace/startrace/internal/ctypes"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/locals"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/signature"
	"github.com/startrace/startrace/internal/usdt"
)

// Finder finds the points of a plan's probes; what was found, points that wait for a module (Wait).

// A Finder finds the points of one kernel that the patterns of a plan mean.
type Finder struct {
	// Facts know the kernel.
	Facts *kernel.Facts
	// Programs is nil where no user programs can be looked at.
	Programs Programs
	// Types gives the types that the script declares; nil: none, also not those of the table of static probes.
	Types func() *ctypes.Types
	// Target are the processes that are traced.
	Target plan.Target
	// Unsafe: points may stand where nobody knows that they do no harm (--unsafe).
	Unsafe bool
	// Exact says where no call may be missed on kernels that preempt programs (--exact).
	Exact plan.Exactness
	// WithCalls: the script has points of syscall:.
	WithCalls bool
	// Late: only points are wanted that are new since the plan was compiled, because a module was loaded.
	Late bool
	// Replaced is a file of programs that has become another one since: the points in it are wanted, all of which are
	// new, and no others. It goes with Late; "" is none.
	Replaced string
	// Now: a point that waits for a module is a mistake, as at the prompt.
	Now bool
}

// Found is what the points of one probe came to, and what there is to say of them.
type Found struct {
	// Targets are what the patterns came to, in the order of the script.
	Targets []*Target
	// Choices are what first() chose, in the order of the script.
	Choices []Choice
	// Waits are the points that wait for a module.
	Waits []Wait
	// Notes say which way was taken where this kernel lacks the one asked for. Warnings are for the script's author.
	Notes, Warnings refusal.Diags
}

// Find gives the points of a probe. Known are the names of those that a late search leaves out. What was found and said
// before a refusal is in Found, too.
func (f *Finder) Find(p *plan.Probe, known map[string]bool) (*Found, *refusal.Refusal) {
	found := &Found{}
	s := search{Finder: f, Found: found, probe: p.ID, known: known}
	r := refusal.Attempt(func() { found.Targets = s.expand(p.Points, p.Pos) })
	return found, r
}

// A search is the search for the points of one probe.
type search struct {
	*Finder
	*Found
	probe int
	known map[string]bool
	// bound: the points do not grow when modules are loaded.
	bound bool
}

func (s search) notef(pos plan.Pos, format string, args ...any) { s.Notes.Add(pos, format, args...) }

func (s search) warnf(pos plan.Pos, format string, args ...any) { s.Warnings.Add(pos, format, args...) }

// A Choice says which of the points of a first() this kernel has.
type Choice struct {
	// Probe is the number of the probe, and Pos the place of the first().
	Probe  int
	Pos    plan.Pos
	Chosen []string // the points by name
	// Refused are the points that come before it and why they are not it, as
	// messages; Rest is the number of those behind it, which were not tried.
	Refused []string
	Rest    int
}

// A Wait says that a point waits for a module that can be loaded: Probe is the number of the probe, Point is the point
// as the script has it, and Module the module's name.
type Wait struct {
	Probe  int
	Point  string
	Module string
}

// Programs finds what points in user programs mean (package binary).
type Programs interface {
	// Functions are those of a file that a query means, and copies of them that were inlined.
	Functions(q binary.Query) ([]binary.Function, *binary.File, error)
	// Parameters are those of a copy of a function that was inlined, where it begins.
	Parameters(at *binary.File, fn binary.Function) ([]locals.Variable, error)
	// SourceAt is the line of the source of the instruction so many bytes behind the start of a function, "" where
	// nobody knows.
	SourceAt(at *binary.File, fn binary.Function, inside uint64) string
	// Definition is the line of the source at which a function is defined, "" where nobody knows.
	Definition(at *binary.File, fn binary.Function) string
	// Inside says why no probe may stand so many bytes behind a function's start.
	Inside(at *binary.File, fn binary.Function, offset uint64) error
	// Steps says why the kernel does not run the instruction there at another place, nil if it perhaps does.
	Steps(at *binary.File, fn binary.Function, offset uint64) error
	// Lines are the places of a line of a source file in a file.
	Lines(file, source string, line int) ([]binary.Function, *binary.File, error)
	// Locals are the variables in sight so many bytes behind a function's start.
	Locals(at *binary.File, fn binary.Function, inside uint64) ([]locals.Variable, error)
	// Length is how many elements an array has there whose length the program computes.
	Length(at *binary.File, fn binary.Function, inside uint64, dimension dwarf.Offset) (locals.Variable, error)
	// Global is a variable outside of functions, as the source of a function sees it; nil where there is none.
	Global(at *binary.File, fn binary.Function, name string) (*locals.Variable, error)
	// Static are the static probes of a file that match PROVIDER:NAME or NAME.
	Static(file, pattern string) ([]usdt.StaticProbe, *binary.File, error)
	// Signature is what debug information says of a function; nil where there is none.
	Signature(at *binary.File, fn binary.Function) *signature.Signature
	// Split is the file that has the debug information of a function, and why that is not known; "" where it is.
	Split(at *binary.File, fn binary.Function) (name, why string)
	// Type is the type at a place in the debug information of a file, as one of btf.
	Type(at *binary.File, off dwarf.Offset, btf *kernel.BTF) (kernel.TypeID, error)
	// TypeNamed is the type of a name in a file, as one of btf.
	TypeNamed(file, name string, btf *kernel.BTF) (kernel.TypeID, error)
	// Symbol is what has a name in a file.
	Symbol(file, name string) (binary.Symbol, error)
	// Variable is where a variable is in the traced process.
	Variable(file, name string) (binary.Memory, error)
}
