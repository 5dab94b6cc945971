package infer

import (
	"fmt"
	"slices"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// The refusal of a change in a user half of what where= of the same probe reads.
//
// A filter runs when the event happens, a user half some milliseconds later. A handler of user space that writes what
// its own filter reads is meant to change what the filter says of the next event, but many have passed by then. So the
// kernel does it, before it sends the event. Where it cannot, that is refused, with what to write instead. The same
// holds for what kernel halves of other probes read (latechanges.go). The writes of callbacks are of a time of their
// own (docs/semantics.md).

// changing are the methods of tables and cells that change them.
var changing = map[string]bool{"set": true, "add": true, "pop": true, "remove": true, "clear": true, "take": true}

// changes refuses that user code changes a container which the filter of its own probe reads. what gives, for the
// message, the same change as kernel= has it.
func (u laterWrites) changes(of uval, pos plan.Pos, what func(name string) string) {
	ref, ok := of.v.c.(plan.Ref)
	if !ok || !of.known || u.pr.u.plan.Placement != plan.ByNeed || u.frame.inTimer(map[*uframe]bool{}) {
		return
	}
	c := ref.Container
	if !u.pr.asked(ref.ID) {
		u.changesOthers(c, pos, what(name(c)))
		return
	}
	wrong(pos, "%s %s is read by the filter of this probe when an event happens, but changed here in user space, "+
		"some milliseconds later: events that come meanwhile pass. What changes it belongs into kernel=, "+
		"which runs with the filter: def mark(e): %s; return True, and probe(…, kernel = mark)",
		c.Kind, name(c), what(name(c)))
}

// changesAt is changes for x[k] on the left of an assignment.
func (u laterWrites) changesAt(x *syntax.IndexExpr, recv uval) {
	u.changes(recv, x.Lbrack, func(name string) string { return fmt.Sprintf("%s[%s] = …", name, keyText(x.Y)) })
}

// changesBy is changes for a method of x.
func (u laterWrites) changesBy(dot *syntax.DotExpr, x *syntax.CallExpr) {
	if !changing[dot.Name.Name] || dotted(dot.X) == "" {
		return
	}
	u.changes(u.expr(dot.X), dot.Name.NamePos, func(name string) string {
		key := ""
		if len(x.Args) > 0 {
			key = keyText(x.Args[0])
		}
		if len(x.Args) > 1 {
			key += ", …"
		}
		return fmt.Sprintf("%s.%s(%s)", name, dot.Name.Name, key)
	})
}

// changesIn is changes for x[k] op= v, which is a call of plan.UpdateBuiltin.
func (u laterWrites) changesIn(of uval, x *syntax.CallExpr) {
	u.changes(of, x.Lparen, func(name string) string {
		op := ""
		if lit, ok := x.Args[2].(*syntax.Literal); ok {
			op, _ = lit.Value.(string)
		}
		return fmt.Sprintf("%s[%s] %s= …", name, keyText(x.Args[1]), op)
	})
}

// keyText is a key as it stands in the script, if that is short.
func keyText(x syntax.Expr) string {
	if text := dotted(x); text != "" {
		return text
	}
	return "…"
}

// isMoved reports whether the kernel makes what a statement does.
func (u *userWalk) isMoved(s syntax.Stmt) bool {
	if u.proj.moved[s] {
		u.half.Moved[s] = true
	}
	return u.proj.moved[s]
}

// asksKernel finds out whether the kernel could make the change that a statement makes, if it stood elsewhere.
func (u laterWrites) asksKernel(s syntax.Stmt) {
	u.frame.kernelCan = false
	if u.pr.u.plan.Placement != plan.ByNeed {
		return
	}
	c, emit := u.change(s)
	if c == nil || !u.askedElsewhere(c) || u.pr.u.allLate[c.ID] {
		return
	}
	m := u.b.mark()
	u.proj.trial = true
	_, r := u.b.tries(emit)
	u.proj.trial = false
	u.b.back(m)
	l := u.proj.later
	u.frame.kernelCan = r == nil && !u.hasElsewhere(c, s) &&
		(l == nil || !l.endsBefore(func(n syntax.Node) bool { return len(l.changed(n)) > 0 }))
}

// change is the container that a statement changes, with what does so in the kernel: x[k] = v, x[k] op= v, x.set(…),
// x.add(…).
func (u laterWrites) change(s syntax.Stmt) (*plan.Container, func()) {
	switch s := s.(type) {
	case *syntax.AssignStmt:
		at, ok := unparen(s.LHS).(*syntax.IndexExpr)
		if !ok || s.Op != syntax.EQ {
			return nil, nil
		}
		of := u.nameOf(at.X)
		return containerIn(of), func() { u.b.tables().setIndex(of.v, u.inKernel(at.Y), u.inKernel(s.RHS), at.Lbrack) }
	case *syntax.ExprStmt:
		x, ok := unparen(s.X).(*syntax.CallExpr)
		if !ok {
			return nil, nil
		}
		if u.nameOf(x.Fn).v.c == plan.Value(plan.Builtin(plan.UpdateBuiltin)) {
			of := u.nameOf(x.Args[0])
			return containerIn(of), func() { callUpdate(u.b, u.argsInKernel(x.Args), x.Lparen) }
		}
		dot, ok := x.Fn.(*syntax.DotExpr)
		if !ok || !slices.Contains([]string{"set", "add", "pop"}, dot.Name.Name) {
			return nil, nil
		}
		c := containerIn(u.nameOf(dot.X))
		return c, func() { u.b.tables().containerMethod(c, dot.Name.Name, u.argsInKernel(x.Args), x.Lparen) }
	}
	return nil, nil
}

func (u laterWrites) argsInKernel(list []syntax.Expr) []arg {
	args := make([]arg, len(list))
	for i, a := range list {
		args[i] = arg{v: u.inKernel(argValue(a)), pos: start(a)}
		if bin, ok := a.(*syntax.BinaryExpr); ok && bin.Op == syntax.EQ {
			args[i].name = bin.X.(*syntax.Ident).Name
		}
	}
	return args
}

// inKernel is the value of x as a kernel half has it.
func (u laterWrites) inKernel(x syntax.Expr) val {
	if t, ok := unparen(x).(*syntax.TupleExpr); ok {
		out := val{comp: true}
		for _, e := range t.List {
			out.elems = append(out.elems, u.inKernel(e))
		}
		return out
	}
	if v := u.nameOf(x); containerIn(v) != nil {
		return v.v
	}
	if call, ok := unparen(x).(*syntax.CallExpr); ok && u.nameOf(call.Fn).v.c == plan.Value(plan.Builtin("record")) {
		return callRecord(u.b, u.argsInKernel(call.Args), call.Lparen)
	}
	v := u.expr(x)
	if !v.known {
		refuse(start(x), "only user space knows this")
	}
	return v.v
}
