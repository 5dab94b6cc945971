// Package infer makes the typed tree of a plan: it decides where each
// function runs, what every expression of a kernel half means and which type
// it has, and which parts of an event a user half needs (projection). All
// "cannot compile" errors of a script come from here.
//
// # How it works
//
// A kernel half is walked once for every point that it serves, as an
// interpreter would run it, but on symbolic values (val): a constant of the
// script, a part of the event, a function, or a typed expression of the tree.
// Conditions that are known fold, so a flag that is off and a field that only
// another point has cost nothing. Calls of the script's functions are walked
// in place, with what their closure captured. What remains at the end is
// straight tree code for this one point.
//
// The walk is types for each concept that hold the program under construction
// (body): walker goes over statements and expressions, inliner over functions
// where they are called; operators, attributes, memory, words and tables make
// values. User halves have the same (user): arguments and rounds walk calls and
// loops, certainty finds what must fail, laterWrites what kernel halves ask.
// Both ask package fold what constants come to, and the rows of builtins what a
// function is in either half. What points mean is a finder's to say.
//
// A walk that may come to nothing takes back all that it has learnt: learnt is
// one value, and mark and back are its clone and its return.
//
// The types of containers come from all their uses. The walk is therefore
// repeated until no use widens a type any more; only the last round counts.
//
// # Projection
//
// A handler that cannot run in the kernel is walked by another walker (user),
// which follows e and everything that is derived from it: attributes, names
// bound to parts, functions that get a part as an argument. Where such a
// part leaves the kernel's world (it is printed, compared, stored) its
// expression becomes a field of the event's record, and the expression is
// marked in the syntax tree (plan.UserHalf) so that the host reads the field
// in its place. What is only passed on, or only led to another part, costs
// nothing.
package infer

import (
	"fmt"
	"sort"

	"github.com/startrace/startrace/bpfgen/persistent"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/until"
)

// A Result is what inference makes of a plan.
type Result struct {
	Tree *tree.Unit
	// Halves are the user halves of probes, by the probe's number. A probe
	// that sends records without one is printed by the session.
	Halves map[int]*plan.UserHalf
	// StartHalves are those of the handlers of starts (start=).
	StartHalves map[int]*plan.UserHalf
	// Placed says for each function where it runs and why, for explain.
	Placed []Placement
	// Warnings do not keep the plan from running.
	Warnings Diags
	// Follow is the number of the table of followed processes (u32 → u64), -1
	// for none: the session puts the first process into it.
	Follow int
	// Points is the number of points that each probe matched, Names which they
	// are.
	Points map[int]int
	Names  map[int][]string
	// Notes say which way was taken where this kernel lacks the one asked for.
	Notes Diags
	// Choices are what first() chose, in the order of the script.
	Choices []Choice
	// Waits are the points that wait for a module.
	Waits []Wait
	// Alone are, of handlers that are placed on both sides, the containers that
	// cannot be compared, by number.
	Alone map[int]bool

	// KeyParts say of containers which parts of their keys are there; the others are
	// None wherever the container is used, and disappear.
	KeyParts map[int][]bool

	// What later units must know: see Types.
	conts   persistent.Map[int, *contType]
	written persistent.Map[int, plan.Pos]
	touched []touch
}

// A Choice says which of the points of a first() this kernel has.
type Choice struct {
	Probe  int
	Pos    plan.Pos
	Chosen []string // the points by name
	// Refused are the points that come before it and why they are not it, as
	// messages; Rest is the number of those behind it, which were not tried.
	Refused []string
	Rest    int
}

// A Placement says where a function of a probe runs.
type Placement struct {
	Probe int
	Role  string // "where", "kernel", "handler", "start"; "event" and "key": functions of event() and span()
	Fn    *plan.Func
	Side  string // "kernel" or "user"
	Why   string // for user: what cannot run in the kernel
	Sends []string
}

// maxRounds bounds the repetition until container types are stable. Types
// only widen, and each widening is one of a few steps.
const maxRounds = 12

// Unit infers p on the kernel that facts describe. The error is a Diags with
// everything that is wrong with the script; the Result then has what is known
// all the same, without a Tree that could be compiled.
func Unit(p *plan.Plan, facts *kernel.Facts) (*Result, error) { return UnitWith(p, facts, nil) }

// UnitWith is Unit with a source for what points in user programs mean.
func UnitWith(p *plan.Plan, facts *kernel.Facts, binaries Binaries) (*Result, error) {
	return UnitAfter(p, facts, binaries, nil)
}

// UnitAfter is UnitWith for a unit that shares containers with those that have
// been loaded before: earlier has their types; nil: there are none.
func UnitAfter(p *plan.Plan, facts *kernel.Facts, binaries Binaries, earlier *Types) (*Result, error) {
	return UnitUntil(p, facts, binaries, earlier, nil)
}

// UnitUntil is UnitAfter for somebody who may want no result any more: once stop
// gives an error, that comes back soon.
func UnitUntil(p *plan.Plan, facts *kernel.Facts, binaries Binaries, earlier *Types, stop until.Stop) (*Result, error) {
	return inferUnit(p, facts, binaries, earlier, false, stop)
}

func inferUnit(p *plan.Plan, facts *kernel.Facts, binaries Binaries, earlier *Types, late bool,
	stop until.Stop) (_ *Result, err error) {
	defer until.End(&err)
	known := learnt{conts: earlier.containers()}
	keys := map[*plan.Span]*types.Type{}
	names := newNameTable(earlier)
	userKeys := map[int]*keyUse{}
	settles := 1
	for range maxRounds {
		u := newUnit(p, facts, known)
		u.binaries, u.stop = binaries, stop
		u.share(earlier)
		u.earlier, u.late = earlier, late
		u.spanKeys, u.nameTable = keys, names
		u.userKeys = userKeys
		u.walk()
		u.joinKeys()
		if u.changed || len(u.diags) == 0 && u.settle(&settles) {
			known = u.throughRounds()
			continue
		}
		u.checkColumns()
		u.checkCells()
		if len(u.diags) > 0 {
			u.res.Warnings = u.warns.sorted()
			return u.res, u.diags.sorted()
		}
		u.res.Tree.Names = names.list
		return u.finish(), nil
	}
	return nil, fmt.Errorf("infer: the types of containers did not settle")
}

// unit is one round over a plan.
type unit struct {
	plan  *plan.Plan
	facts *kernel.Facts
	// binaries is nil where no user programs can be looked at.
	binaries Binaries
	learnt
	// trying counts the walks around this one that may come to nothing, owner is the part of the walk since the last
	// mark.
	trying   int
	owner    *owner
	userKeys map[int]*keyUse // of user halves
	res      *Result
	// touched are the uses of tables and cells by handlers placed in user space.
	touched []touch
	// touchedBefore and writtenBefore are those of earlier units.
	touchedBefore []touch
	writtenBefore persistent.Map[int, plan.Pos]
	followID      int // of the table of followed processes
	names         map[string]bool
	nextNames     map[string]nextName // by a name without a number
	strMax        int
	// noneEnds makes a None where a value is wanted end the walk as if it were
	// no mistake.
	noneEnds bool
	enums    map[*tree.Expr]string      // reads of fields whose type is an enum
	absorbed map[*tree.Expr]bool        // values for user halves that cannot end the program
	families map[string]error           // what names() knows: see mustBeFamily
	follow   *follow                    // nil: only one process, or all
	spanKeys map[*plan.Span]*types.Type // lives through all rounds
	// nameTable lives through all rounds, too.
	nameTable *nameTable
	// late: only points that no unit of earlier has; has are those of the probe
	// that is walked. bound: its points do not grow.
	late, bound bool
	earlier     *Types
	probe       int
	has         map[string]bool
	// both: what is walked is placed on both sides; see alone.
	both    bool
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
		strMax: p.StrMax, enums: map[*tree.Expr]string{}, absorbed: map[*tree.Expr]bool{}, families: map[string]error{},
		foldedFuncs: map[string]foldedFunc{},
		res: &Result{
			Tree:   &tree.Unit{Keep: map[int]int{}},
			Halves: map[int]*plan.UserHalf{}, StartHalves: map[int]*plan.UserHalf{},
			Points: map[int]int{}, Names: map[int][]string{},
			Follow: -1,
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

func (u *unit) walk() {
	if u.plan.Target.Follow && u.plan.Target.PID > 0 && len(u.plan.Probes) > 0 {
		if r := attempt(u.followChildren); r != nil {
			u.diags = append(u.diags, r.Diag)
		}
	}
	for _, p := range u.plan.Probes {
		u.stop.Poll()
		newProbe(u, p).walk()
	}
	u.checkTouched()
}

func name(c *plan.Container) string {
	if c.Name != "" {
		return c.Name
	}
	return fmt.Sprintf("declared at %s", c.Pos)
}

// finish completes the result of the last round.
func (u *unit) finish() *Result {
	u.res.Warnings = u.warns.sorted()
	for _, prog := range u.res.Tree.Programs {
		prune(prog)
	}
	u.behindTracing()
	n := 0
	u.used.All(func(id int, _ bool) { n = max(n, id+1) })
	n = max(n, len(u.plan.Containers))
	if u.follow != nil {
		n = u.follow.id + 1
		u.res.Follow = u.follow.id
	}
	u.res.Tree.Containers = make([]*tree.Container, n)
	u.used.All(func(id int, _ bool) { u.res.Tree.Containers[id] = u.conts.At(id).finish() })
	u.res.Alone, u.res.KeyParts = u.alone(), map[int][]bool{}
	for _, c := range u.plan.Containers {
		if parts := u.keyParts(c.ID); parts != nil {
			u.res.KeyParts[c.ID] = parts
		}
	}
	u.res.conts, u.res.written, u.res.touched = u.conts, u.written, u.touched
	return u.res
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

// A nextName is where the search for a name that is not taken goes on, and which
// number makes the one behind it.
type nextName struct {
	name string
	n    int
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

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
