package infer

import (
	"fmt"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/persistent"
	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/until"
)

// What one round over a plan knows and gives (Result, Types, Placement), what it has learnt of containers, names and
// spans; the usual room of strings (`defaultStrMax`). What a trial may take back of that is learnt (takeback.go).

// A unit is one round over a plan: each round begins with a new one. Only what is said to live through all rounds is
// handed from one to the next.
type unit struct {
	// plan is what the script has declared.
	plan *plan.Plan
	// facts answer what the compiler asks of the kernel.
	facts *kernel.Facts
	// programs says what points in user programs mean. It is nil where no user programs can be looked at.
	programs points.Programs
	// learnt is what the walks have found out so far, and what a walk that comes to nothing takes back.
	learnt
	// trying is how many walks that may come to nothing are around the present one. At 0 what cannot run in the kernel
	// is a mistake of the script.
	trying int
	// owner is new at each mark. A contType whose owner is this one was made since the mark and is changed in place;
	// another is copied first (cont), so that going back to the mark undoes the change.
	owner *owner
	// userKeys has, by a container's number, what user halves give as its key. It lives through all rounds.
	userKeys map[int]*keyUse
	// moved are the functions that could run in the kernel at the first point of their probe and not at a later one,
	// with the reason. They run in user space at all points from the next round on. It lives through all rounds.
	moved map[probeFunc]string
	// versions has, by the number of a walk of a function in user space, the version of the user half that serves it.
	// It lives through all rounds.
	versions map[probeFunc]map[int]int
	// split is set once walks of this round turn out to need other versions of a user half than they had.
	split bool
	// stays are the functions of which the kernel makes no changes, as it could not at each point of their probe. It
	// lives through all rounds.
	stays map[probeFunc]bool
	// allLate are the containers of which the kernel makes no changes for handlers in user space, as one of these makes
	// them late (sides). It lives through all rounds.
	allLate map[int]bool
	// mixed are the tables and cells that have texts of different kinds, by number, with the reason why their handlers
	// run in user space. It lives through all rounds.
	mixed map[int]string
	// rolled are the loops over ranges that are not written out, by the places of their for statements.
	rolled map[plan.Pos]bool
	// res is what comes of the round. It is complete when finish has run.
	res *Result
	// userUses are the uses of tables and cells by handlers that this round has placed in user space.
	userUses []userUse
	// ownUses are those of them by handlers with kernel= or keep=.
	ownUses []userUse
	// lateChanges are the changes of tables and cells by handlers that this round has placed in user space.
	lateChanges []lateChange
	// lateBefore are such changes in earlier units whose programs are attached.
	lateBefore []lateChange
	// hiddenBefore are uses in earlier units that may be such changes.
	hiddenBefore []userUse
	// lateInUnits are the containers that handlers of earlier units change in user space, or may change there.
	lateInUnits []*plan.Container
	// userUsesBefore are such uses in earlier units whose programs are attached.
	userUsesBefore []userUse
	// writtenBefore has, by a container's number, where kernel halves of these earlier units write it.
	writtenBefore persistent.Map[int, plan.Pos]
	// madeBefore is made of these earlier units.
	madeBefore persistent.Map[int, []maker]
	// followID is the number that the table of followed processes has if there is one. Units that share containers have
	// the same.
	followID int
	// cgroupsID is the number that the table of traced cgroups has if there is one. Units that share containers have
	// the same.
	cgroupsID int
	// names are the names of the programs so far. The next one must differ from them.
	names map[string]bool
	// nextNames has, by a program's name without a number behind it, from where programName goes on looking for a free
	// one.
	nextNames map[string]nextName
	// strMax is how many bytes of a string are captured at most.
	strMax int
	// noneEnds is set while a where= is walked for a call that never returns, of a probe that has others that do. A
	// None that is used as a value then ends the walk without a message: the condition is false there (holdsEver).
	noneEnds bool
	// enums has the enum of each expression that reads a value whose type is one. names(e) is by that.
	enums map[*tree.Expr]string
	// onlyNamed has the struct to which an expression is a pointer, of which only the name is known there.
	onlyNamed map[*tree.Expr]string
	// durations has true for each expression that reads a time.Duration of a program of Go.
	durations map[*tree.Expr]bool
	// calls has the system calls of which an e.func or e.probe is the name, where each of them has one.
	calls map[*tree.Expr][]kernel.Syscall
	// absorbed are the expressions that orEnds has made for user halves. They cannot end the program.
	absorbed map[*tree.Expr]bool
	// families has the families of names() that this round has asked for: nil where the kernel has one, else the error.
	families map[string]error
	// follow is the table of the processes that are traced. It is nil where that is one process, or all.
	follow *followedProcs
	// cgroups is the table of the cgroups that are traced. It is nil where that is any.
	cgroups *tracedCgroups
	// spanKeys has the type of the key of each span, joined over its points. It lives through all rounds.
	spanKeys map[*plan.Span]*types.Type
	// nameTable numbers the names of functions and points, which are numbers in kernel halves. It lives through all
	// rounds.
	nameTable *nameTable
	// late is set for a unit of the points that came after the start: those of modules that were loaded since, or those
	// in a file that has become another one (replaced). No others are walked.
	late bool
	// replaced is the file whose points a late unit has. It is "" where that has those of modules.
	replaced string
	// earlier are the units that have been loaded before. It is nil where there can have been none.
	earlier *Types
	// probe is the number of the probe that is walked, and point the one of its points, for messages.
	probe int
	point string
	// has are the names of the points that earlier units have of this probe. A late unit for modules leaves them out.
	// It is empty in a unit that is not late.
	has map[string]bool
	// both is set while a kernel half is walked that is placed on both sides, for tests (onBoth).
	both bool
	// stop ends the walk when nobody wants its result any more.
	stop until.Stop
	// reading is set while what runs before a handler is walked, as where=. The containers that it reads go into asked.
	reading bool
	// shared is set while a function of an event is walked that several probes have. It is nil elsewhere.
	shared *sharedRun
	// foldedFuncs has what calls of functions with constants in user code have come to, by function and arguments.
	foldedFuncs map[string]foldedFunc
	// givers has the functions of the script of which it was asked whether they return functions.
	givers map[*plan.Func]bool
	// readers has those of which it was asked whether they read memory, with the first place where they do.
	readers map[*plan.Func]*memoryRead
	// changers has those of which it was asked which containers they may change.
	changers changers
	// stored are the tables and cells into which user code puts something, by number.
	stored map[int]bool
}

// changers are functions of the script with what they may change.
type changers struct {
	// known has those that were asked for so far.
	known map[*plan.Func]*changes
	// by are the methods that change a container.
	by map[string]bool
	// without are statements that do not count.
	without map[syntax.Node]bool
}

func newChangers(by map[string]bool, without map[syntax.Node]bool) changers {
	return changers{map[*plan.Func]*changes{}, by, without}
}

// changes are the containers that a function may change, by number, and its own parameters by name.
type changes struct {
	containers map[int]bool
	params     map[string]bool
}

func newUnit(p *plan.Plan, facts *kernel.Facts, known learnt) *unit {
	u := &unit{
		plan: p, facts: facts, learnt: known, owner: &owner{},
		names: map[string]bool{}, nextNames: map[string]nextName{},
		strMax: p.StrMax, enums: map[*tree.Expr]string{}, calls: map[*tree.Expr][]kernel.Syscall{},
		durations: map[*tree.Expr]bool{}, onlyNamed: map[*tree.Expr]string{},
		absorbed: map[*tree.Expr]bool{}, families: map[string]error{},
		foldedFuncs: map[string]foldedFunc{}, givers: map[*plan.Func]bool{}, readers: map[*plan.Func]*memoryRead{},
		stored: map[int]bool{},
		res: &Result{
			Tree:   &tree.Unit{Keep: map[int]int{}},
			Halves: map[int]*plan.UserHalf{}, StartHalves: map[int]*plan.UserHalf{},
			HalfOf: map[int]*plan.UserHalf{},
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
	// conts are the types of containers by number. They live through all rounds.
	conts persistent.Map[int, *contType]
	// changed is set once this round has widened a type, or has found out something else that must be known from the
	// beginning. Then another round follows.
	changed bool
	// used are the numbers of the containers that kernel halves use.
	used persistent.Map[int, bool]
	// unknown are the numbers of the tables and cells that were read before anything had said what their values are.
	unknown persistent.Map[int, bool]
	// written has, by number, where kernel halves write a table or cell first.
	written persistent.Map[int, plan.Pos]
	// made has, by number, where the kernel changes a table or cell for handlers in user space, and of which probes.
	made persistent.Map[int, []maker]
	// asked are the containers that what runs before a probe's handler reads, as its where=.
	asked persistent.Map[containerUse, bool]
	// askers are the probes whose kernel halves read a table or cell, by its number. They live through all rounds.
	askers persistent.Map[int, []asker]
	// sideUses are the uses of containers in a plan whose handlers are placed on both sides. Of them follows which
	// containers can be compared (alone). It is empty in other plans.
	sideUses []sideUse
	// apart are the spans whose entries keep at which start point they began, because the end makes different things of
	// them (spanstartsapart.go). It lives through all rounds.
	apart persistent.Map[spanUse, bool]
	// ownPid are the spans that are part of an event() with a pid of its own, as record(pid = e.start.pid). That
	// process is tested, and not the one of the start or end. Without a span: the probes whose process is tested behind
	// the functions of their events (earlytest.go). It lives through all rounds.
	ownPid persistent.Map[spanUse, bool]
	// cutStacks is set once a kernel stack of fewer frames than there can be is asked for.
	cutStacks bool
	// messages are what there is to say to the author so far.
	messages
}

// throughRounds is what the next round knows from the beginning.
func (l learnt) throughRounds() learnt {
	return learnt{conts: l.conts, apart: l.apart, ownPid: l.ownPid, askers: l.askers}
}

// messages are for the author of the script.
type messages struct {
	diags, warns refusal.Diags
	// always are warnings of comparisons that come out the same at all times at some point of a probe, and open those
	// that do not at another one (constantly.go).
	always []constantWarning
	open   persistent.Map[comparison, bool]
}

// containerUse is a container as one probe uses it.
type containerUse struct{ probe, id int }

// probeFunc is a function of a probe: its handler, or that of its start.
type probeFunc struct {
	probe int
	start bool
}

// An owner is the part of a walk between two marks: what it has made itself it can change in its place.
type owner struct{ _ byte }

// A use is where a script uses a container.
type use struct {
	plan.Pos
	// point is the point at which the function is walked that does so; "" outside of these.
	point string
}

// beside is the place of a use in a message about another one at pos and point. One expression of a probe can have two
// types at two points.
func (a use) beside(pos plan.Pos, point string) (here, there string) {
	if a.Pos != pos || a.point == point || a.point == "" {
		return "", a.String()
	}
	return " at " + point, a.point
}

// contType collects the types of a container's uses. It lives through all
// rounds; a use that widens it asks for another round.
type contType struct {
	// c is the container.
	c *plan.Container
	// key is the type of its keys so far. It is None where it has no keys.
	key types.Type
	// val is the type of what is stored under a key so far, or in a cell.
	val types.Type
	// keyAt and valAt are the uses that first gave these types, for messages.
	keyAt, valAt use
	// keyed is set once some use has a key.
	keyed bool
	// present says of each position of the key whether some use has something else there than None. It is nil before
	// the first use with a key.
	present []bool
	// other is the type of what the first get or pop with a default gives for a missing key. The values become that
	// where nothing else says what they are (settle).
	other types.Type
	// compared is the type of what the value is first compared with, which tells what user space puts there where
	// nothing better does.
	compared types.Type
	// guessed is set once the type of the values is a guess: an int.
	guessed bool
	// fixed is set where the map exists already, so that no type can change any more.
	fixed bool
	// owner is the part of the walk that has made this copy, and may change it in place (cont). Others copy it first.
	owner *owner
}

func newContType(c *plan.Container) *contType {
	t := &contType{c: c, valAt: use{Pos: c.Pos}}
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
	c   *plan.Container
	pos plan.Pos
	// why says why the handler cannot run in the kernel.
	why string
	// probe is the number of the handler's probe.
	probe int
	// at is the place of the handler's probe.
	at plan.Pos
	// reads is set where this place only reads the container, and timed where it runs at a time of its own, as a timer.
	// before is set where the probe was attached before this unit.
	reads, timed, before bool
	// among is set where the container is one of what a record has, of which it is not known what is done with it.
	among bool
	// own is set where the probe has kernel= or keep=: then it matters only for what its own kernel halves read.
	own bool
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
	// parts says of each position of the key whether some use has something else there than None.
	parts []bool
	// any is set once some use has a key of which only the run decides how many parts it has.
	any bool
	// bare are the lengths of keys that have fewer parts than others. They must be those without the parts that
	// disappear (agree).
	bare []int
	// at is the place of the last use, for messages.
	at plan.Pos
}

// spanUse is a span as one probe uses it.
type spanUse struct {
	span  *plan.Span
	probe int
}

// A sharedRun is the walk of a function of an event that several probes have.
type sharedRun struct {
	// probes are those that have the event. One that has it twice is there twice.
	probes []*plan.Probe
	// reads are the numbers of the containers that the function has read so far.
	reads map[int]bool
	// sets has, by a container's number, where the function sets or removes an entry.
	sets map[int]plan.Pos
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
	// told are the orders that were warned of (checkOrder), also by units that are removed.
	told map[order]bool
	// Now: points that wait for a module are a mistake, as at the prompt.
	Now bool
}

// A Result is what inference makes of a plan.
type Result struct {
	// Tree are the programs, with the records, spans and containers.
	Tree *tree.Unit
	// Halves are the user halves of handlers, by the probe's number. A probe that sends records without one is printed
	// by the session.
	Halves map[int]*plan.UserHalf
	// StartHalves are those of the handlers of starts (start=).
	StartHalves map[int]*plan.UserHalf
	// HalfOf has, by the number of a record, the version of the user half that gets it: points of a probe can differ in
	// what a place of the handler means (versions.go). Halves and StartHalves have the first version of each.
	HalfOf map[int]*plan.UserHalf
	// Placed says for each function where it runs and why, for explain.
	Placed []Placement
	// Warnings do not keep the plan from running.
	Warnings refusal.Diags
	// Follow is the number of the table of followed processes (u32 → u64), -1 for none: the session puts the first
	// process into it.
	Follow int
	// Cgroups is the number of the table of traced cgroups (u64 → u64), -1 for none: the session puts their numbers
	// into it.
	Cgroups int
	// Points is how many points each probe matched, by the probe's number.
	Points map[int]int
	// Names are the names of these points.
	Names map[int][]string
	// Notes say which way was taken where this kernel lacks the one asked for.
	Notes refusal.Diags
	// Choices are what first() chose, in the order of the script.
	Choices []points.Choice
	// Waits are the points that wait for a module.
	Waits []points.Wait
	// Alone are, of handlers that are placed on both sides, the containers that cannot be compared, by number.
	Alone map[int]bool

	// KeyParts say of containers which parts of their keys are there. The others are None wherever the container is
	// used, and disappear.
	KeyParts map[int][]bool

	// conts are the types of containers by number. Types.Add keeps those of the ones that are used.
	conts persistent.Map[int, *contType]
	// written has, by a container's number, where kernel halves write it, for later units (writtenBefore).
	written persistent.Map[int, plan.Pos]
	// userUses are the uses of tables and cells by handlers in user space, for later units (userUsesBefore).
	userUses []userUse
	// made is what the kernel changes for handlers in user space, for later units (madeBefore).
	made persistent.Map[int, []maker]
	// askers and lateChanges are for later units, too.
	askers      persistent.Map[int, []asker]
	lateChanges []lateChange
	// orders has, of containers, that their changes may come in another order than the script's, as far as the unit has
	// warned of it. Later units do not warn of these again.
	orders []order
}

// An order is a pair of which nobody knows which comes first: the changes of a container by user space, and its changes
// by the kernel for the probe that stands at the place probe.
type order struct {
	container int
	probe     string
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
	// Makes are the changes of tables and cells that the kernel makes for a handler in user space, in words.
	Makes []string
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
