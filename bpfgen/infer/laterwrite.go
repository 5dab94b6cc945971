package infer

import (
	"fmt"
	"maps"
	"slices"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

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
	if !ok || !of.known || u.pr.u.plan.Placement != plan.ByNeed {
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

// moves hands a change of what a kernel half asks over to the kernel, which makes it before it sends the event, and
// reports whether it did. The change must stand in the handler itself, where each event comes, and the kernel must
// know the key and the value.
func (u laterWrites) moves(s syntax.Stmt) bool {
	u.frame.kernelCan = false
	if u.pr.u.plan.Placement != plan.ByNeed {
		return false
	}
	c, emit := u.change(s)
	switch {
	case c == nil:
		return false
	case u.pr.asked(c.ID):
		return u.always(s) && u.emitted(s, emit)
	case !u.askedElsewhere(c):
		return false
	}
	was := u.pr.u.learnt
	m := u.b.mark()
	if u.always(s) && !u.readElsewhere(c) && u.emitted(s, emit) {
		// Such a change is no reason to refuse that others in user space change the container, too.
		u.pr.u.written, u.pr.u.askers = was.written, was.askers
		return true
	}
	_, r := u.b.tries(emit)
	u.b.back(m)
	u.frame.kernelCan = r == nil && !u.readElsewhere(c)
	return false
}

// emitted has the kernel make a change, if it can.
func (u laterWrites) emitted(s syntax.Stmt, emit func()) bool {
	m := u.b.mark()
	u.b.lazy = false
	block, r := u.b.tries(emit)
	u.b.lazy = m.place.body.lazy
	if r != nil {
		u.b.back(m)
		return false
	}
	u.b.block.Stmts = append(u.b.block.Stmts, block.Stmts...)
	u.half.Moved[s] = true
	return true
}

// always reports whether a statement of the handler runs at each event: it is in no branch and no loop, and behind no
// return.
func (u laterWrites) always(s syntax.Stmt) bool {
	if u.frame.top && u.frame.always == nil {
		u.frame.always = beforeReturns(u.frame.Def.Body)
	}
	return u.frame.always[s]
}

// follow notes that of the branches of a statement this one is always taken, as its condition is known.
func (u laterWrites) follow(s syntax.Stmt, taken []syntax.Stmt) {
	if u.always(s) {
		maps.Copy(u.frame.always, beforeReturns(taken))
	}
}

// beforeReturns are the statements up to the first that contains a return.
func beforeReturns(list []syntax.Stmt) map[syntax.Stmt]bool {
	out := map[syntax.Stmt]bool{}
	for _, s := range list {
		out[s] = true
		returns := false
		syntax.Walk(s, func(n syntax.Node) bool {
			_, is := n.(*syntax.ReturnStmt)
			returns = returns || is
			return !returns
		})
		if returns {
			break
		}
	}
	return out
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
