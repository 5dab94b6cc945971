package infer

import (
	"fmt"

	"github.com/startrace/startrace/bpfgen/persistent"
	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/until"
)

// What a round over a plan knows, and what comes of it. What a trial may take back of that is learnt (takeback.go).

// unit is one round over a plan.
type unit struct {
	// plan is what the script has declared.
	plan *plan.Plan
	// facts know the kernel.
	facts *kernel.Facts
	// programs is nil where no user programs can be looked at.
	programs points.Programs
	learnt
	// trying counts the walks around this one that may come to nothing, owner is the part of the walk since the last
	// mark.
	trying   int
	owner    *owner
	userKeys map[int]*keyUse // of user halves
	// moved are the functions that run in user space because of a later point than the first, and why. It lives
	// through all rounds.
	moved map[probeFunc]string
	// res is what comes of the round.
	res *Result
	// userUses are those of tables and cells by handlers placed in user space.
	userUses []userUse
	// userUsesBefore and writtenBefore are those of earlier units.
	userUsesBefore []userUse
	writtenBefore  persistent.Map[int, plan.Pos]
	followID       int // of the table of followed processes
	cgroupsID      int // of the table of traced cgroups
	// names are those of the programs so far, which must differ.
	names     map[string]bool
	nextNames map[string]nextName // by a name without a number
	// strMax is the limit of captured strings in bytes.
	strMax int
	// noneEnds makes a None where a value is wanted end the walk as if it were
	// no mistake.
	noneEnds bool
	enums    map[*tree.Expr]string // reads of fields whose type is an enum
	// calls are the system calls of which an e.func or e.probe is the name, where each of them has one.
	calls    map[*tree.Expr][]kernel.Syscall
	absorbed map[*tree.Expr]bool        // values for user halves that cannot end the program
	families map[string]error           // what names() knows: see mustBeFamily
	follow   *followedProcs             // nil: only one process, or all
	cgroups  *tracedCgroups             // nil: any cgroup
	spanKeys map[*plan.Span]*types.Type // lives through all rounds
	// nameTable lives through all rounds, too.
	nameTable *nameTable
	// late: only points that no unit of earlier has; has are those of the probe
	// that is walked.
	late bool
	// replaced is the file of which a late unit has the points, "" where it has those of modules.
	replaced string
	// earlier are the units that have been loaded before; nil: none can have been.
	earlier *Types
	// probe is the number of the probe that is walked.
	probe int
	has   map[string]bool
	// both: what is walked is placed on both sides; see alone.
	both bool
	// stop ends the walk when nobody wants its result any more.
	stop    until.Stop
	reading bool // what runs before a handler: see asks
	// shared is the walk of a function of an event that several probes have; nil: another one.
	shared *sharedRun
	// foldedFuncs are the calls with constants that user code makes.
	foldedFuncs map[string]foldedFunc
}

func newUnit(p *plan.Plan, facts *kernel.Facts, known learnt) *unit {
	u := &unit{
		plan: p, facts: facts, learnt: known, owner: &owner{},
		names: map[string]bool{}, nextNames: map[string]nextName{},
		strMax: p.StrMax, enums: map[*tree.Expr]string{}, calls: map[*tree.Expr][]kernel.Syscall{},
		absorbed: map[*tree.Expr]bool{}, families: map[string]error{},
		foldedFuncs: map[string]foldedFunc{},
		res: &Result{
			Tree:   &tree.Unit{Keep: map[int]int{}},
			Halves: map[int]*plan.UserHalf{}, StartHalves: map[int]*plan.UserHalf{},
			Points: map[int]int{}, Names: map[int][]string{},
			Follow: -1, Cgroups: -1,
		},
	}
	if u.strMax <= 0 {
		u.strMax = defaultStrMax
	}
	u.res.Tree.StrMax = u.strMax
	u.res.Tree.Stacks = p.Stacks
	return u
}

// defaultStrMax is the limit of captured strings in bytes.
const defaultStrMax = 256

// learnt is what walks find out and what can be taken back: of containers, of spans, and what there is to say. It is
// one value. A copy keeps what was known (see mark), and costs little, because the maps are persistent; assigning the
// copy takes back all that was learnt since.
type learnt struct {
	// conts are the types of containers by number. They live through all rounds; changed: one was widened in this
	// round, or something else that the next round must know was found out.
	conts   persistent.Map[int, *contType]
	changed bool
	// used are the containers that kernel halves use; unknown the tables whose values were read before anything set
	// them.
	used, unknown persistent.Map[int, bool]
	// written holds where kernel halves write tables and cells.
	written persistent.Map[int, plan.Pos]
	// asked are the containers that what runs before a probe's handler asks.
	asked persistent.Map[containerUse, bool]
	// sideUses are for the comparison of both sides: see alone.
	sideUses []sideUse
	// apart are spans whose starts are kept apart, ownPid those that are part of an event with a pid of its own. They
	// live through all rounds.
	apart, ownPid persistent.Map[spanUse, bool]
	cutStacks     bool // a kernel stack of fewer frames than there can be
	messages
}

// throughRounds is what the next round knows from the beginning.
func (l learnt) throughRounds() learnt {
	return learnt{conts: l.conts, apart: l.apart, ownPid: l.ownPid}
}

// messages are for the author of the script.
type messages struct{ diags, warns refusal.Diags }

// containerUse is a container as one probe uses it.
type containerUse struct{ probe, id int }

// probeFunc is a function of a probe: its handler, or that of its start.
type probeFunc struct {
	probe int
	start bool
}

// An owner is the part of a walk between two marks: what it has made itself it can change in its place.
type owner struct{ _ byte }

// contType collects the types of a container's uses. It lives through all
// rounds; a use that widens it asks for another round.
type contType struct {
	// c is the container.
	c *plan.Container
	// key is the type of its keys; None: unkeyed.
	key types.Type
	// val is the type of what is stored under a key; that of a cell.
	val types.Type
	// keyAt and valAt are the uses that first gave the type, for messages.
	keyAt, valAt plan.Pos
	// keyed: some use has a key.
	keyed bool
	// present says of each position of the key whether some use has something
	// else there than None.
	present []bool
	// other is the type of what get and pop give for a missing key, while
	// nothing says what the values are.
	other types.Type
	// fixed: the map exists already, so nothing can change any more.
	fixed bool
	// owner is what may change it: see cont.
	owner *owner
}

func newContType(c *plan.Container) *contType {
	t := &contType{c: c, valAt: c.Pos}
	if c.Kind == plan.Cell && c.Init != nil {
		t.val = storedAll(literals(constExpr(c.Init, c.Pos)))
	}
	return t
}

// A sideUse is one use of a container by a function of a probe, on either side.
type sideUse struct {
	probe, id    int
	both, writes bool
}

// A userUse is the use of a table or cell by a handler that was placed in user space.
type userUse struct {
	c     *plan.Container
	pos   plan.Pos
	why   string // the handler runs there
	probe int
	reads bool // and changes nothing
}

// followedProcs is the table of processes that -c and -f follow: the children of a
// followed process join it at their fork, in the kernel, so no event of theirs
// is missed; a process leaves it when it is gone, waited for.
type followedProcs struct{ id int }

// tracedCgroups is the table of the cgroups that --cgroup means: the one that had its path at the beginning, and those
// that were made there since, as when a service is started again.
type tracedCgroups struct{ id int }

// nameTable numbers the names; it lives through all rounds.
type nameTable struct {
	list    []string
	numbers map[string]int64
}

// A nextName is where the search for a name that is not taken goes on, and which
// number makes the one behind it.
type nextName struct {
	name string
	n    int
}

// keyUse is what user halves give as the key of a container. It lives through all rounds.
type keyUse struct {
	parts []bool   // by position: some use has something else there than None
	any   bool     // some use has a key of which only the run decides what it is
	bare  []int    // the lengths of keys that have fewer parts than others: without what disappeared
	at    plan.Pos // of the last use, for messages
}

// spanUse is a span as one probe uses it.
type spanUse struct {
	span  *plan.Span
	probe int
}

// A sharedRun is the walk of a function of an event that several probes have.
type sharedRun struct {
	probes []*plan.Probe
	reads  map[int]bool // containers
	sets   map[int]plan.Pos
}

// foldedFunc is what a function gives for some constants; ok: that is known.
type foldedFunc struct {
	v  val
	ok bool
}

// Types are the containers of units that have been loaded: their maps exist,
// so a later unit must use them as they are. Numbers of containers mean the
// same in all of these units.
type Types struct {
	conts persistent.Map[int, *contType]
	units []*Result // those whose programs are attached
	names []string  // those that units have numbered
	// Now: points that wait for a module are a mistake, as at the prompt.
	Now bool
}

// A Result is what inference makes of a plan.
type Result struct {
	// Tree are the programs, with the records, spans and containers.
	Tree *tree.Unit
	// Halves are the user halves of probes, by the probe's number. A probe
	// that sends records without one is printed by the session.
	Halves map[int]*plan.UserHalf
	// StartHalves are those of the handlers of starts (start=).
	StartHalves map[int]*plan.UserHalf
	// Placed says for each function where it runs and why, for explain.
	Placed []Placement
	// Warnings do not keep the plan from running.
	Warnings refusal.Diags
	// Follow is the number of the table of followed processes (u32 → u64), -1
	// for none: the session puts the first process into it.
	Follow int
	// Cgroups is the number of the table of traced cgroups (u64 → u64), -1 for none: the session puts their numbers
	// into it.
	Cgroups int
	// Points is the number of points that each probe matched, Names which they
	// are.
	Points map[int]int
	Names  map[int][]string
	// Notes say which way was taken where this kernel lacks the one asked for.
	Notes refusal.Diags
	// Choices are what first() chose, in the order of the script.
	Choices []points.Choice
	// Waits are the points that wait for a module.
	Waits []points.Wait
	// Alone are, of handlers that are placed on both sides, the containers that
	// cannot be compared, by number.
	Alone map[int]bool

	// KeyParts say of containers which parts of their keys are there; the others are
	// None wherever the container is used, and disappear.
	KeyParts map[int][]bool

	// What later units must know: see Types.
	conts persistent.Map[int, *contType]
	// written is where kernel halves write tables and cells.
	written persistent.Map[int, plan.Pos]
	// userUses are the uses of tables and cells by handlers in user space.
	userUses []userUse
}

// A Placement says where a function of a probe runs.
type Placement struct {
	// Probe is the number of the probe.
	Probe int
	Role  string // "where", "kernel", "handler", "start"; "event" and "key": functions of event() and span()
	// Fn is the function; nil for the line that startrace prints by itself.
	Fn   *plan.Func
	Side string // "kernel" or "user"
	Why  string // for user: what cannot run in the kernel
	// Sends are the parts of the event that user space gets for it, as fields of the record.
	Sends []string
}

// programName makes a name that is unique in the unit and valid for the
// kernel (at most 15 characters of [A-Za-z0-9_]).
func (u *unit) programName(probe int, what string) string {
	base := cleanName(what)
	if probe >= 0 {
		base = fmt.Sprintf("p%d_%s", probe, base)
	}
	if len(base) > 15 {
		base = base[:15]
	}
	next, ok := u.nextNames[base]
	if !ok {
		next = nextName{base, 2}
	}
	for ; u.names[next.name]; next.n++ {
		suffix := fmt.Sprintf("_%d", next.n)
		next.name = next.name[:min(len(next.name), 15-len(suffix))] + suffix
	}
	u.names[next.name], u.nextNames[base] = true, next
	return next.name
}

func cleanName(s string) string {
	out := []byte(s)
	for i, c := range out {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9') {
			out[i] = '_'
		}
	}
	return string(out)
}

// maxRounds bounds the repetition until container types are stable. Types
// only widen, and each widening is one of a few steps.
const maxRounds = 12
