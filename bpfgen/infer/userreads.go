package infer

import (
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// The refusal of reads of memory at what only user space knows, as a function with mem() that is given away; `reads in
// the kernel when the event comes, but`.
//
// The kernel reads memory of the event before the event is sent. So of what reads there, as cstr, the walk must see
// each call. A function with such a call is refused where user space calls it by itself, which the walk does not see:
//
//	print(sorted([e.args[0], e.args[1]], key = lambda p: cstr(p)))
//
// A lambda or a def inside the handler knows its first such call by the walk of it (inner.reads). A function of the
// script is searched for one (firstRead).

// notesRead notes a read at what user space computes: it is refused, in a function whose calls are not known where
// that is used.
func (u arguments) notesRead(f *builtin, x *syntax.CallExpr) {
	g := u.frame.firstGeneric(map[*uframe]bool{})
	if g == nil {
		u.cannotRead(f, x)
	}
	if g.reads == nil {
		g.reads = &memoryRead{f.name, x.Lparen}
	}
}

// readBy is the first read that a value makes where user space calls it, nil where there is none.
func (u arguments) readBy(v uval, at plan.Pos) *memoryRead {
	for _, c := range []plan.Value{v.v.c, v.was} {
		if name, ok := c.(plan.Builtin); ok && builtinOf(name).is(readsKernel) {
			return &memoryRead{name, at}
		}
	}
	for _, c := range v.callees() {
		if c.in != nil && c.in.reads != nil {
			return c.in.reads
		}
		if c.fn != nil {
			if r := u.firstRead(c.fn); r != nil {
				return r
			}
		}
	}
	return nil
}

// firstRead is the first call in a function of the script, or in those that it calls by their names, that reads memory.
func (u arguments) firstRead(fn *plan.Func) *memoryRead {
	known := u.pr.u.readers
	if r, ok := known[fn]; ok {
		return r
	}
	known[fn] = nil // while it is searched
	if !readsIn(fn, map[*plan.Func]bool{}) {
		return nil
	}
	frame := newFrame(fn, resolved(fn))
	var found *memoryRead
	for _, s := range resolved(fn).Body {
		syntax.Walk(s, func(n syntax.Node) bool {
			if x, ok := n.(*syntax.CallExpr); ok && found == nil {
				found = u.readOf(frame, x)
			}
			return found == nil
		})
	}
	known[fn] = found
	return found
}

// readOf is what a call in a function reads.
func (u arguments) readOf(frame *uframe, x *syntax.CallExpr) *memoryRead {
	id, ok := unparen(x.Fn).(*syntax.Ident)
	if !ok {
		return nil
	}
	v, _ := frame.Lookup(id, captured)
	switch c := v.v.c.(type) {
	case *plan.Func:
		return u.firstRead(c)
	case plan.Builtin:
		f := builtinOf(c)
		if !f.is(readsKernel) || f.name == "cast" && len(x.Args) == 2 && u.castsNumber(constantArgs(x)) {
			return nil
		}
		return &memoryRead{f.name, x.Lparen}
	}
	return nil
}

// constantArgs are the arguments of a call, of which those are known that are written as constants.
func constantArgs(x *syntax.CallExpr) []uval {
	out := make([]uval, len(x.Args))
	for i, a := range x.Args {
		if lit, ok := argValue(a).(*syntax.Literal); ok {
			out[i] = knownVal(literal(lit))
		}
	}
	return out
}

// checkCallee refuses a function that reads memory where it is given to a builtin that calls it after the event: as the
// key of sorted, max and min, and by a timer.
func (u arguments) checkCallee(f *builtin, x *syntax.CallExpr, vals []uval) {
	key := slices.Contains([]plan.Builtin{"sorted", "max", "min"}, f.name)
	if !key && f.deed != Later {
		return
	}
	for _, a := range u.given(x, vals).list {
		if a.at != nil {
			u.checkGiven(f, key, a.v, start(argValue(a.at)))
		} else {
			u.checkGiven(f, key, a.v, x.Lparen)
		}
	}
	for i, a := range x.Args {
		if starOf(a) != 0 { // its elements need not be known
			u.checkGiven(f, key, vals[i], start(argValue(a)))
		}
	}
}

// checkGiven refuses a function that reads memory as an argument of a builtin; key is set where it is one.
func (u arguments) checkGiven(f *builtin, key bool, v uval, at plan.Pos) {
	switch r := u.readBy(v, at); {
	case r == nil:
	case key:
		u.refuseRead(r, at, "user space calls the key of %s after the event, but %s (%s) reads in the kernel when the "+
			"event comes: make a list of tuples first, as %[1]s([(%[4]s, p) for p in [e.args[0], e.args[1]]])",
			f.name, r.name, r.pos, r.written())
	default:
		u.refuseRead(r, at, "%s calls the function after the event, but %s (%s) reads in the kernel when the event "+
			"comes: give what it reads a name before, and let the function have that", f.name, r.name, r.pos)
	}
}

// written is such a read of p, as a script has it.
func (r *memoryRead) written() string {
	switch r.name {
	case "mem":
		return "mem(p, 4)"
	case "cast":
		return `cast("struct T", p).field`
	case "container_of":
		return `container_of(p, "struct T", "member").field`
	}
	return string(r.name) + "(p)"
}

// refuseRead refuses a function that reads memory. Inside a function whose calls are not known that is asked where they
// are.
func (u arguments) refuseRead(r *memoryRead, at plan.Pos, format string, args ...any) {
	g := u.frame.firstGeneric(map[*uframe]bool{})
	if g == nil {
		wrong(at, format, args...)
	}
	if g.reads == nil {
		g.reads = r
	}
}

// keepsFunctions notes that a variable of this function has functions in it from here on, so that calls of what is in
// it are known. Functions that read memory are refused in anything else.
func (u *userWalk) keepsFunctions(of syntax.Expr, args []syntax.Expr, vals []uval) {
	if len(calleesOf(vals)) == 0 {
		return
	}
	id, isName := unparen(of).(*syntax.Ident)
	if isName {
		bind, _ := id.Binding.(*resolve.Binding)
		old, ok := u.frame.Lookup(id, captured)
		if ok && bind != nil && bind.Scope == resolve.Local && !old.known && old.was == nil {
			old.may = withCallees(old.may, calleesOf(vals)...)
			u.bind(bind, old)
			return
		}
	}
	u.calling().noReaders(args, vals)
}

// noReaders refuses functions that read memory as arguments of what may keep or call them.
func (u arguments) noReaders(args []syntax.Expr, vals []uval) {
	for i, v := range vals {
		if r := u.readBy(v, start(argValue(args[i]))); r != nil {
			u.refuseRead(r, start(argValue(args[i])), "who calls this function is not known when the script "+
				"is compiled, but %s (%s) reads in the kernel when the event comes: keep it in a list or dict that is "+
				"made in the handler, or keep what it gives", r.name, r.pos)
		}
	}
}

// noBuiltins refuses builtins that read memory among elements: user space would call them.
func (u *userWalk) noBuiltins(list []syntax.Expr, vals []uval) {
	for i, v := range vals {
		name, ok := v.v.c.(plan.Builtin)
		if ok && v.known && builtinOf(name).is(readsKernel) {
			wrong(start(list[i]), readsByName, name)
		}
	}
}

const readsByName = "%s reads in the kernel, and is called by its name: want a function that calls it, as " +
	"lambda p: %[1]s(p)"

// cannotRead refuses a read at what user space computes.
func (u arguments) cannotRead(f *builtin, x *syntax.CallExpr) {
	for _, a := range x.Args {
		call, ok := unparen(argValue(a)).(*syntax.CallExpr)
		if ok && slices.Contains([]string{"struct", "types"}, nameIn(call.Fn).Name) {
			wrong(call.Lparen, "%s reads in the kernel, which must know the type before an event comes: declare it at "+
				"the top of the script, as T = %s(…), and use T here", f.name, nameIn(call.Fn).Name)
		}
	}
	if !slices.ContainsFunc(x.Args, func(a syntax.Expr) bool { return !u.byHalf(argValue(a)) }) {
		wrong(x.Lparen, "%s reads in the kernel when the event comes, but a handler computes an argument of it later: "+
			"let a kernel half do both, as kernel = lambda e: %[1]s(…), and use e.value in the handler", f.name)
	}
	wrong(x.Lparen, "%s reads in the kernel when the event comes, but an argument is computed in user space later: "+
		"read the parts of the event before, as names = [cstr(e.args[0]), cstr(e.args[1])]", f.name)
}

// byHalf reports whether a kernel half could compute x, as far as its names tell: it has no variable but the event, and
// calls nothing that runs in user space only.
func (u arguments) byHalf(x syntax.Expr) bool {
	can := true
	syntax.Walk(x, func(n syntax.Node) bool {
		id, ok := n.(*syntax.Ident)
		bind, named := (*resolve.Binding)(nil), false
		if ok {
			bind, named = id.Binding.(*resolve.Binding)
		}
		if !named {
			return true // a name behind a dot, or one of an argument
		}
		v, _ := u.frame.Lookup(id, captured)
		if c, is := v.v.c.(plan.Builtin); is {
			f := builtinOf(c)
			can = can && (f.kernel != nil || f.unwalked != nil)
		}
		if _, event := v.v.obj.(*event); !event && bind.Scope <= resolve.Free && bind.Scope >= resolve.Local {
			can = can && v.known && !v.part // what the function has captured
		}
		return true
	})
	return can
}
