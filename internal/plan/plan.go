// Package plan holds what a script declared, as pure data.
//
// A script is run once. Each call of a builtin that concerns tracing (probe,
// event, table, hist …) records a value here instead of acting. When the
// script has ended the plan is complete, and the compiler (bpfgen) reads it:
// functions as syntax trees with their captures, points as patterns,
// containers as declarations. The plan never holds a descriptor and never a
// value of the interpreter, so that it prints the same on every machine and
// the compiler can be tested without running a script.
//
// Ownership: the script host (starlark/script, builtins) writes a Plan from
// one goroutine; after that it is read only.
package plan

import (
	"strings"

	"go.starlark.net/syntax"
)

// Plan, Probe, Point and Target: what a script has declared.

// Pos is a place in a script: file, line and column, the columns counted in
// runes from 1 as go.starlark.net does.
type Pos = syntax.Position

// Library begins the names of the standard library's modules, in load() and in places.
const Library = "std/"

// OfLibrary reports whether a place is in a module of the standard library.
func OfLibrary(pos Pos) bool { return strings.HasPrefix(pos.Filename(), Library) }

// A Plan is everything that one script declared.
type Plan struct {
	// Probes are in the order of the calls. Those that are compiled later at the prompt are in a plan of their own.
	Probes []*Probe
	// Containers are in the order of the calls, each at the index that is its ID.
	Containers []*Container
	// StrMax is the limit of captured strings in bytes (--str-max, limits()).
	StrMax int
	// Types are the texts in C by which the script declares types (types()), in the order of the calls.
	Types []TypesText
	// Stacks is how many different stacks are kept (limits()), 0: the default.
	Stacks int
	// Later are the functions that timers and the end of the run call, and methods of containers among them.
	Later []Value
	// Unsafe lets kernel halves change what they trace (--unsafe).
	Unsafe bool
	// Exact says which points may miss no call because the kernel preempts their programs (--exact).
	Exact Exactness
	// Target restricts all probes to a process; see Target.
	Target Target
	// Placement is for tests.
	Placement Placement
}

// A TypesText is a text of types().
type TypesText struct {
	// Text is C.
	Text string
	// Pos is the place of the call, which is that of its parenthesis.
	Pos Pos
	// Made says that struct() has made the text.
	Made bool
	// Literal is the text as the script has it; none where the script puts it together, so that its mistakes are at the
	// call.
	Literal Literal
}

// At is the place in the script of a line and a column of the text, both counted from 1.
func (t TypesText) At(line, column int) Pos {
	if t.Literal.Raw == "" {
		return t.Pos
	}
	return t.Literal.At(line, column)
}

// A Placement says where handlers run that can run on both sides. What a handler does must not depend on it: tests
// place the same handlers on one side, on the other and on both.
type Placement int

// The placements. Functions of kernel= are handlers in this sense if nothing else gets what they return.
const (
	// ByNeed: in the kernel, if all of the handler can run there.
	ByNeed Placement = iota
	// InUser: in user space.
	InUser
	// InBoth: in the kernel, and what the handler needs in user space is sent too, by the same run of the program.
	InBoth
)

// Target says which processes a run concerns. It is tested as e.pid in every
// program, after an event's own fields are applied.
type Target struct {
	PID  int // >0: only this thread group (-p, -c), in the initial pid namespace
	Self int // >0: never this thread group (the tracer itself)
	// Also are the thread groups of the other -p.
	Also []int
	// Follow extends PID and Also to the processes that they start, and those
	// that these start (-c; -p with -f).
	Follow bool
	// Cgroup is the one that processes must be in, or below (--cgroup,
	// --container). It holds beside the others, as User does.
	Cgroup Cgroup
	// User is the real user that processes must have (--user); nil: any.
	User *uint32
}

// A Cgroup is one of version 2, as programs know it.
type Cgroup struct {
	ID    uint64 // the number of its folder; 0: there is none
	Level int    // how many others it is in
}

// Several reports whether there is a set of processes: its members are in a table.
func (t Target) Several() bool { return t.PID > 0 && (t.Follow || len(t.Also) > 0) }

// Passing reports whether a process can come to belong, or cease to, while it runs:
// one is moved to a cgroup, or changes its user.
func (t Target) Passing() bool { return t.Cgroup.ID != 0 || t.User != nil }

// A Probe is one call of probe().
type Probe struct {
	// ID is the number of the call of probe() among all of the run, from 0.
	ID   int
	Name string // name=, else the points as written
	// Points are the alternatives: each of them is an event of the probe.
	Points []Point
	// The four functions; nil where not given.
	Handler, Where, Kernel, Start *Func
	// Keep is how many events the kernel keeps until dump() asks for them; 0: they
	// are sent as they happen.
	Keep int
	// Open: the script asks what spans of calls of this probe are open, so the
	// time of their starts is kept.
	Open bool
	// Pos is the place of the call.
	Pos Pos
}

// A Point is something that happens: *Pattern, *Event, *Span or *First.
type Point interface{ isPoint() }

// A Pattern is a point as a string, with globs: tracepoint:sched:sched_*.
// Provider is the long name (tracepoint, rawtracepoint, syscall, profile …),
// Args the fields after it.
type Pattern struct {
	Text     string // as written
	Provider string
	Args     []string
	// Pos is the place of the call that got the text.
	Pos Pos
}

// Long is the point with the long name of its kind.
func (p *Pattern) Long() string { return p.Provider + ":" + strings.Join(p.Args, ":") }

// An Event is event((points, fn), …): a point that happens when one of the
// functions returns a record.
type Event struct {
	// Arms are tried in their order, each for the points of its own.
	Arms []Arm
	// Doc is the text of doc=, for help.
	Doc string
	// Pos is the place of the call.
	Pos Pos
}

// An Arm is one pair of an event: Points, and the function Fn that makes the record of their events. Fn may be nil in a
// bare event(points): then the event is the point itself.
type Arm struct {
	Points []Point
	Fn     *Func
}

// A Span is span(start, end, …): two points that belong together by key.
type Span struct {
	// Start are the points that begin it, End those that end it.
	Start, End       []Point
	StartKey, EndKey *Func  // nil: by thread
	Again            string // "last" or "first"
	// Size is how many can be open at a time; 0: the default.
	Size    int
	Timeout int64 // ns; 0 for none
	// Pos is the place of the call.
	Pos Pos
}

// First is first(a, b, …), at the place Pos: the first of Points that this kernel has.
type First struct {
	Points []Point
	Pos    Pos
}

func (*Pattern) isPoint() {}
func (*Event) isPoint()   {}
func (*Span) isPoint()    {}
func (*First) isPoint()   {}

// ProbeName names a probe as the script does.
func (p *Plan) ProbeName(id int) string {
	for _, probe := range p.Probes {
		if probe.ID == id {
			return probe.Name
		}
	}
	return "the script"
}

// An Exactness says which points may miss no call on kernels that preempt programs.
type Exactness int

const (
	// ExactCalls is syscall:, which that costs little, where the kernel lets it.
	ExactCalls Exactness = iota
	// ExactAll is all of which that can be had (--exact).
	ExactAll
	// ExactNone is none, so that no program holds up what is more urgent (--no-exact).
	ExactNone
)
