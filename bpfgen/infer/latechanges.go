package infer

import (
	"slices"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// The warning that a user half changes a table or cell too late for the kernel half of another probe that reads it.
//
// A handler in user space can change what kernel halves of other probes read, as their filters:
//
//	def started(e):
//	    targets[e.pid] = 1
//	    print(e.comm)
//
//	probe("syscall:execve", started)
//	probe("syscall:openat", lambda e: print(e.args.filename), where = lambda e: e.pid in targets)
//
// In user space that would be late by the time until the handler runs, so the kernel makes such a change before it
// sends the event (laterWrites.moves). What it could make, but not at this place, is refused with the form that says
// so. What only user space can decide is late by its nature, and a warning says so. A probe with kernel= has said
// which part of the work is the kernel's.

// changesOthers notes a change of a container that other probes may read.
func (u laterWrites) changesOthers(c *plan.Container, pos plan.Pos, form string) {
	if c.Kind != plan.Table && c.Kind != plan.Cell || u.pr.p.Kernel != nil || u.pr.p.Keep > 0 ||
		u.frame.firstGeneric(map[*uframe]bool{}) != nil { // a timer or the like
		return
	}
	can := u.frame.kernelCan
	for f := u.frame; f != nil; f = f.by {
		can = can && f.decides == 0
	}
	u.pr.u.lateChanges = append(u.pr.u.lateChanges, lateChange{c: c, pos: pos, probe: u.pr.p.ID, at: u.pr.p.Pos,
		form: form, decided: u.askedElsewhere(c), can: can, why: u.whyNotHere()})
}

// askedElsewhere reports whether a kernel half of another probe reads a container, and this one has not said by kernel=
// what is the kernel's.
func (u laterWrites) askedElsewhere(c *plan.Container) bool {
	return u.pr.p.Kernel == nil && u.pr.p.Keep == 0 && u.pr.u.askedBy(c.ID, u.pr.p.ID) != nil
}

// hasElsewhere reports whether the handler has the container elsewhere than in a statement: it reads it there, or its
// changes have an order.
func (u laterWrites) hasElsewhere(c *plan.Container, s syntax.Stmt) bool {
	return hasBeside(u.chain[0], c, s, map[*plan.Func]bool{})
}

// hasBeside reports whether a function, or one that it has by a name, has a container elsewhere than in a statement.
func hasBeside(fn *plan.Func, c *plan.Container, s syntax.Stmt, seen map[*plan.Func]bool) bool {
	if seen[fn] {
		return false
	}
	seen[fn] = true
	found := false
	leads := func(v plan.Value) bool {
		if of, ok := v.(*plan.Func); ok {
			return hasBeside(of, c, s, seen)
		}
		return reachedFrom(v, map[*plan.Func]bool{})[c.ID]
	}
	syntax.Walk(&syntax.ForStmt{Vars: noName, X: noName, Body: resolved(fn).Body}, func(n syntax.Node) bool {
		if id, ok := n.(*syntax.Ident); ok {
			found = found || leads(fn.Names[id.Name])
		}
		return !found && n != syntax.Node(s)
	})
	return found || slices.ContainsFunc(slices.Concat(fn.Free, fn.Defaults), leads)
}

// changedBy is the name of what a statement changes, nil where it is none that only changes it.
func changedBy(s syntax.Node) *syntax.Ident {
	var of syntax.Expr
	switch s := s.(type) {
	case *syntax.AssignStmt:
		if at, ok := unparen(s.LHS).(*syntax.IndexExpr); ok {
			of = at.X
		}
	case *syntax.ExprStmt:
		if x, ok := unparen(s.X).(*syntax.CallExpr); ok {
			if dot, ok := x.Fn.(*syntax.DotExpr); ok && changing[dot.Name.Name] {
				of = dot.X
			} else if id, ok := x.Fn.(*syntax.Ident); ok && id.Name == string(plan.UpdateBuiltin) {
				of = x.Args[0]
			}
		}
	}
	id, _ := of.(*syntax.Ident)
	return id
}

// checkLateChanges says of changes in user space what it means that kernel halves of other probes read the container.
func (u *unit) checkLateChanges() {
	for _, l := range slices.Concat(u.lateBefore, u.lateChanges) {
		p := u.askedBy(l.c.ID, l.probe)
		if p == nil {
			continue
		}
		if !l.decided { // the kernel may be able to make it, in the next round
			u.changed = true
			continue
		}
		if l.before {
			u.warnf(l.pos, lateBefore, l.c.Kind, name(l.c), p.pos, "changed", l.at)
			continue
		}
		const (
			soon = "%s %s is read in the kernel by the probe of %s when its event happens, but changed here in " +
				"user space, some milliseconds later: its events meanwhile find what was there before. "
			late       = "What the kernel knows of this belongs into kernel="
			kernelForm = "which runs before the event is sent: def mark(e): %s; return True, and " +
				"probe(…, kernel = mark)"
		)
		switch {
		case l.can && l.why != "":
			u.errorf(l.pos, soon+"The kernel could make this change, but %s. Or write it as kernel=, "+kernelForm,
				l.c.Kind, name(l.c), p.pos, l.why, l.form)
		case l.can:
			u.errorf(l.pos, soon+late+", "+kernelForm, l.c.Kind, name(l.c), p.pos, l.form)
		default:
			u.warnf(l.pos, soon+late, l.c.Kind, name(l.c), p.pos)
		}
	}
	u.checkHiddenChanges()
	sides{u}.checkOrder()
}

// lateBefore is what there is to say of a change by a probe that is attached already, as at the prompt.
const lateBefore = "%s %s is read in the kernel by the probe of %s when its event happens, and %s here in user " +
	"space, some milliseconds later: its events meanwhile find what was there before. The probe of %s was attached " +
	"before anything read that in the kernel. Detach it and enter it again, so that the kernel makes the change, " +
	"where it can. Else what the kernel knows of this belongs into kernel="

// checkHiddenChanges says of tables and cells that are reached in user space in a way that is not followed, as out of a
// list, or by a method that has a name, that they may be changed there.
func (u *unit) checkHiddenChanges() {
	type use struct{ probe, container int }
	said := map[use]bool{}
	for _, l := range slices.Concat(u.lateBefore, u.lateChanges) {
		said[use{l.probe, l.c.ID}] = true
	}
	for _, t := range slices.Concat(u.hiddenBefore, u.userUses, u.ownUses) {
		p, of := u.askedBy(t.c.ID, t.probe), use{t.probe, t.c.ID}
		if t.own {
			p = nil
		}
		own := !t.before && u.asked.At(containerUse{t.probe, t.c.ID})
		if t.reads || t.timed || p == nil && !own || said[of] {
			continue
		}
		said[of] = true
		if own {
			u.warnf(t.pos, "%s %s is read by the filter of this probe when an event happens, and may be changed here "+
				"in user space, some milliseconds later: events that come meanwhile pass. What changes it belongs "+
				"into kernel=, which runs with the filter", t.c.Kind, name(t.c))
			continue
		}
		if t.before {
			u.warnf(t.pos, lateBefore, t.c.Kind, name(t.c), p.pos, "may be changed", t.at)
			continue
		}
		u.warnf(t.pos, "%s %s is read in the kernel by the probe of %s when its event happens, and may be changed "+
			"here in user space, some milliseconds later: its events meanwhile find what was there before. What the "+
			"kernel knows of this belongs into kernel=", t.c.Kind, name(t.c), p.pos)
	}
}
