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
// Both ask package fold what constants come to, package scope what names stand
// for, the rows of builtins what a function is in either half, and the tree what
// can end a handler (mayend.go). What points mean is package points' to say.
//
// A walk that may come to nothing takes back all that it has learnt: learnt is
// one value, and mark and back are its clone and its return.
//
// The types of containers come from all their uses. The walk is therefore
// repeated until no use widens a type any more; only the last round counts.
//
// # The files, from below
//
// Nothing below knows what is above it; in a room the files know each other.
//
//	syntax, typewords, trees, ends       what needs no walk: the text, types, expressions
//	unit, walkstate, body, val           what the walks know, and take back
//	values, objects, event, attr, …      what values are and have: the event, memory, words, containers
//	stmt, expr, connective, loop, call   the walk of kernel halves
//	user, userstmt, usercall, …          the walk of user halves
//	pointevent, placement, probe, span … what e is at a point, and the programs that stand there
//	builtinrows, programs, infer         the tables, and the rounds over a plan
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
	"maps"

	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/until"
)

// Plan, the entry of the package: it walks all probes until no type changes, and what its caller decides (Options).

// Options are what the caller decides beside the plan and the kernel. The zero value is a unit for itself, without
// points in user programs.
type Options struct {
	// Programs says what points in user programs mean; nil: such points are mistakes.
	Programs points.Programs
	// Earlier has the types of the units that have been loaded before, with which this one shares containers; nil:
	// there are none.
	Earlier *Types
	// Late: the unit has only the points that the probes of the plan have got since the units of Earlier were made, and
	// facts are read anew. A unit without programs: there are none.
	Late bool
	// Replaced is a file of programs that has become another one since: the late unit has the points in it, and no
	// others. "" is none.
	Replaced string
	// Rolled are the loops over ranges that are not written out, by the places of their for statements: they are too
	// large if they are (Program.Rollable).
	Rolled map[plan.Pos]bool
	// Stop is for somebody who may want no result any more: once it gives an error, that comes back soon.
	Stop until.Stop
}

// Plan infers p on the kernel that facts describe. The error is a refusal.Diags with
// everything that is wrong with the script; the Result then has what is known
// all the same, without a Tree that could be compiled.
func Plan(p *plan.Plan, facts *kernel.Facts, o Options) (_ *Result, err error) {
	defer until.End(&err)
	known := learnt{conts: o.Earlier.containers()}
	keys := map[*plan.Span]*types.Type{}
	names := newNameTable(o.Earlier)
	userKeys := map[int]*keyUse{}
	moved, stays, allLate := map[probeFunc]string{}, map[probeFunc]bool{}, map[int]bool{}
	mixed, rolled := map[int]string{}, map[plan.Pos]bool{}
	maps.Copy(rolled, o.Rolled)
	versions := map[probeFunc]map[int]int{}
	settles := 1
	for round := 0; round < maxRounds; round++ {
		u := newUnit(p, facts, known)
		u.programs, u.stop = o.Programs, o.Stop
		u.share(o.Earlier)
		u.earlier, u.late, u.replaced = o.Earlier, o.Late, o.Replaced
		u.spanKeys, u.nameTable = keys, names
		u.userKeys, u.moved, u.stays, u.allLate = userKeys, moved, stays, allLate
		u.mixed, u.versions, u.rolled = mixed, versions, rolled
		u.changers = newChangers(changing, nil)
		before := len(moved) + len(mixed) + len(rolled)
		u.walk()
		if len(moved)+len(mixed)+len(rolled) > before || u.split || !u.changed && (sides{u}).alsoLate() {
			// What their kernel halves gave containers does not hold.
			// Each function and container moves once, and each loop is rolled once.
			known, round = learnt{conts: o.Earlier.containers()}, -1
			continue
		}
		userStores{u}.makeRoom()
		u.joinKeys()
		if u.changed || len(u.diags) == 0 && (untold{u}).settle(&settles) {
			known = u.throughRounds()
			continue
		}
		u.checkColumns()
		u.checkCells()
		u.checkLater()
		if len(u.diags) > 0 {
			u.res.Warnings = u.warnings()
			return u.res, u.diags.Sorted()
		}
		u.res.Tree.Names = names.list
		return u.finish(), nil
	}
	return nil, fmt.Errorf("infer: the types of containers did not settle")
}

func (u *unit) walk() {
	if len(u.plan.Types) > 0 { // mistakes in them are told also where nobody uses one
		if r := refusal.Attempt(func() { scriptTypes(u) }); r != nil {
			u.diags = append(u.diags, r.Diag)
		}
	}
	if u.plan.Target.Several() && len(u.plan.Probes) > 0 {
		if r := refusal.Attempt(u.followSeveral); r != nil {
			u.diags = append(u.diags, r.Diag)
		}
	}
	if u.plan.Target.Cgroup.ID != 0 {
		u.traceCgroups()
	}
	for _, p := range u.plan.Probes {
		u.stop.Poll()
		newProbe(u, p).walk()
	}
	sides{u}.partUses()
	u.checkBothSides()
	u.checkLateChanges()
}

// finish completes the result of the last round.
func (u *unit) finish() *Result {
	u.res.Warnings = u.warnings()
	for _, prog := range u.res.Tree.Programs {
		prune(prog)
	}
	dropSlots(u.res.Tree, u.plan)
	u.behindTracing()
	n := 0
	u.used.All(func(id int, _ bool) { n = max(n, id+1) })
	n = max(n, len(u.plan.Containers))
	if u.follow != nil {
		n = u.follow.id + 1
		u.res.Follow = u.follow.id
	}
	if u.cgroups != nil {
		n = u.cgroups.id + 1
		u.res.Cgroups = u.cgroups.id
	}
	u.res.Tree.Containers = make([]*tree.Container, n)
	u.used.All(func(id int, _ bool) { u.res.Tree.Containers[id] = u.conts.At(id).finish() })
	u.res.Alone, u.res.KeyParts = u.alone(), map[int][]bool{}
	for _, c := range u.plan.Containers {
		if parts := u.keyParts(c.ID); parts != nil {
			u.res.KeyParts[c.ID] = parts
		}
	}
	u.res.conts, u.res.written, u.res.userUses = u.conts, u.written, u.userUses
	u.res.made = u.made
	u.res.askers, u.res.lateChanges = u.askers, u.lateChanges
	return u.res
}
