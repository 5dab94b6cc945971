package infer

import (
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/persistent"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// user walks a handler that runs in user space, for one point. It follows
// what is derived from the event and captures what user code uses of it.
type user struct {
	proj  *projection
	pr    *probe
	b     *body // where captured expressions are evaluated
	half  *plan.UserHalf
	frame *uframe
	// chain are the functions whose copies are being walked, against recursion;
	// inside those of them that are inside others. copies is how many there are
	// of the handler so far.
	chain  []*plan.Func
	inside []*resolve.Function
	copies *int
	// nested is the function inside the handler that is walked, nil outside.
	nested syntax.Node
}

// A uval is a value in user code. The zero uval is one that only user space
// knows.
type uval struct {
	// v is what the compiler knows of it; known says that it does.
	v     val
	known bool
	// part marks what is derived from the event: using it as a value of user
	// space captures caps.
	part bool
	caps *captures
	// fails says that computing it can be an error, or has another effect: it
	// must not be left out though its value is not needed.
	fails bool
	// first is what must be computed before a part of x is taken, since it fails
	// or has another effect, though its own value is not needed.
	first syntax.Expr
	// typ is the interpreter's name of its type, where v is not known but that is.
	typ string
	// elems are those of a tuple that is made in user space, and of a list as
	// long as it has no name.
	elems []uval
	// fn is a function inside the handler.
	fn *inner
}

// A capture is an expression in a user half and the value that the kernel
// half sends for it.
type capture struct {
	half *plan.UserHalf
	site syntax.Expr
	v    val
	in   syntax.Node // the nested function that holds the site
}

// uvals are the values of variables; the ways of a branch begin with copies.
type uvals = persistent.Map[*resolve.Binding, uval]

type uframe struct {
	fn    *plan.Func
	def   *resolve.Function
	outer *uframe
	vars  uvals
	// returns collects the values of a function that is walked for a call.
	returns []uval
	top     bool
	// open says that a condition has been met which only the run decides: what
	// stands behind it in a function may be for other arguments than those of
	// this call.
	open bool
	// shifting are the variables that functions inside share and that can have
	// several values; loops are those around the statement that is walked.
	shifting map[*resolve.Binding]bool
	loops    []*loopVars
	// generic: a function inside that is walked where it is defined, for calls of which nothing is known.
	generic bool
	// chosen is an e.args[i] in it, if there is one, of which only the call says
	// which argument it is.
	chosen *syntax.IndexExpr
	// always are the statements of a handler that run at each event; nil: nobody
	// has asked.
	always map[syntax.Stmt]bool
}

func newFrame(fn *plan.Func, def *resolve.Function) *uframe {
	return &uframe{fn: fn, def: def, shifting: shifting(def)}
}

func knownVal(v val) uval { return uval{v: v, known: true} }

// partVal is a part of the event that stands at x.
func (u *user) partVal(x syntax.Expr, v val) uval {
	return uval{v: v, known: true, part: true, caps: oneCapture(capture{u.half, x, v, u.nested})}
}

// partOf is partVal for a part of another one, of, that stands in x.
func (u *user) partOf(x, of syntax.Expr, recv uval, v val) uval {
	out := u.partVal(x, v)
	if out.first = recv.first; out.first == nil && recv.fails {
		out.first = of
	}
	if out.first != nil {
		u.half.First[x] = out.first
		out.fails = true
	}
	return out
}

// use makes x a value of user space.
func (u *user) use(x uval) {
	x.fn.mayLeave()
	if !x.part {
		return
	}
	used := u.proj.sends[len(u.proj.sends)-1].used
	x.caps.each(used, func(c capture) { u.proj.capture(u, c) })
}

func (u *user) useAll(list []syntax.Expr) []uval {
	out := make([]uval, len(list))
	for i, x := range list {
		out[i] = u.useExpr(x)
	}
	return out
}

// useExpr walks an expression whose value user space needs; after a mistake
// in it the walk goes on with the next one.
func (u *user) useExpr(x syntax.Expr) (v uval) {
	r := attempt(func() {
		v = u.expr(x)
		u.use(v)
	})
	if r != nil {
		u.pr.u.mistake(r)
		return uval{}
	}
	return v
}

func (f *uframe) lookup(id *syntax.Ident) (uval, bool) {
	bind := id.Binding.(*resolve.Binding)
	switch bind.Scope {
	case resolve.Local, resolve.Cell:
		v, ok := f.vars.Get(bind)
		return v, ok
	case resolve.Free:
		return f.around(bind.First)
	}
	for g := f; g != nil; g = g.outer {
		if g.fn != nil {
			if v, ok := g.fn.Names[id.Name]; ok {
				return knownVal(constant(v)), true
			}
		}
	}
	return uval{}, false
}

// around is a variable of the functions around, by where it is first named: what asks may stand in a function inside
// that is not walked yet, so that its own numbers of variables say nothing here.
func (f *uframe) around(first *syntax.Ident) (uval, bool) {
	for g := f; g != nil; g = g.outer {
		for _, bind := range g.def.Locals {
			if bind.First == first {
				return g.vars.Get(bind)
			}
		}
		if g.fn == nil {
			continue
		}
		for i, bind := range g.def.FreeVars {
			if bind.First == first && i < len(g.fn.Free) && g.fn.Free[i] != nil {
				return knownVal(constant(g.fn.Free[i])), true
			}
		}
	}
	return uval{}, false
}

// expr walks an expression of user code.
func (u *user) expr(x syntax.Expr) uval {
	switch x := x.(type) {
	case *syntax.ParenExpr:
		return u.expr(x.X)
	case *syntax.Literal:
		var v val
		if r := attempt(func() { v = literal(x) }); r != nil {
			return uval{}
		}
		return knownVal(v)
	case *syntax.Ident:
		return u.ident(x)
	case *syntax.DotExpr:
		return u.dot(x)
	case *syntax.IndexExpr:
		return u.index(x)
	case *syntax.CallExpr:
		return u.calling().call(x)
	case *syntax.UnaryExpr:
		return u.unary(x)
	case *syntax.BinaryExpr:
		return u.binary(x)
	case *syntax.CondExpr:
		return u.condExpr(x)
	case *syntax.TupleExpr:
		return constTuple(uval{typ: "tuple", elems: u.useAll(x.List)})
	case *syntax.ListExpr:
		return uval{typ: "list", elems: u.useAll(x.List)}
	case *syntax.DictExpr:
		for _, e := range x.List {
			entry := e.(*syntax.DictEntry)
			u.use(u.expr(entry.Key))
			u.use(u.expr(entry.Value))
		}
		return uval{typ: "dict"}
	case *syntax.SliceExpr:
		recv := u.expr(x.X)
		u.use(recv)
		for _, e := range []syntax.Expr{x.Lo, x.Hi, x.Step} {
			if e != nil {
				at := u.expr(e)
				u.certain().checkSlice(x, recv, at)
				u.use(at)
			}
		}
		return uval{typ: sliced(typeName(recv))}
	case *syntax.LambdaExpr:
		if at := u.calling().function(x, x.Function.(*resolve.Function)); at != nil {
			chosenArg(at)
		}
	case *syntax.Comprehension:
		u.rounds().comprehension(x)
	}
	return uval{}
}

func (u *user) ident(id *syntax.Ident) uval {
	x, ok := u.frame.lookup(id)
	if !ok {
		return uval{}
	}
	if x.part && x.v.obj != nil {
		return u.partVal(id, x.v)
	}
	if x.known {
		u.pr.touch(x.v.c, id.NamePos, u.pr.asks[id], map[*plan.Func]bool{})
	}
	return whileItRuns(x)
}

// whileItRuns is x as user code finds it when an event comes: of a list or dict that it captured only the type is known
// before, for user code may have changed it since.
func whileItRuns(x uval) uval {
	if x.known && !x.part && fold.MayChange(x.v.c) {
		return uval{typ: typeName(x)}
	}
	return x
}

// touch notes the tables and cells that user code reaches.
func (u *user) touch(c plan.Value, pos plan.Pos) {
	u.pr.touch(c, pos, false, map[*plan.Func]bool{})
}

func (u *user) dot(x *syntax.DotExpr) uval {
	if !changing[x.Name.Name] {
		u.onlyAsks(x.X)
	}
	recv := u.expr(x.X)
	u.certain().checkAttr(x, recv)
	if recv.part && recv.known && !isText(recv.v) {
		return u.partOf(x, x.X, recv, u.b.attributes().attr(recv.v, x.Name.Name, x.Name.NamePos))
	}
	if recv.part && !recv.known && recv.caps.lead() {
		wrong(x.Name.NamePos, "which part of the event this is is decided in user space: take .%s of each part before",
			x.Name.Name)
	}
	if r, ok := recv.v.c.(plan.Record); ok && recv.known {
		for _, f := range r {
			if f.Name == x.Name.Name {
				u.touch(f.Value, x.Name.NamePos)
				return whileItRuns(knownVal(constant(f.Value)))
			}
		}
	}
	u.use(recv)
	return uval{}
}

// isText reports whether v is a value whose attributes are methods of a
// value of user space.
func isText(v val) bool {
	if v.obj != nil {
		_, isBytes := v.obj.(*memObj)
		return isBytes
	}
	switch v.typ().Kind {
	case types.Str, types.Bytes, types.Int, types.Bool, types.None, types.Stack:
		return true
	}
	return false
}

func (u *user) index(x *syntax.IndexExpr) uval {
	u.onlyAsks(x.X)
	recv := u.expr(x.X)
	i := u.expr(x.Y)
	u.certain().checkIndex(x, recv, i)
	u.keyed(recv, i, start(x.Y))
	if isRef(recv.v) || typeName(recv) == "dict" {
		u.calling().noEvent(x.Y)
	}
	if recv.elems != nil {
		u.use(i)
		return u.element(x, recv.elems, i)
	}
	_, isArray := recv.v.obj.(*arrayObj)
	_, isArgs := recv.v.obj.(*argsObj)
	if _, ok := recv.v.obj.(*ctxArray); ok {
		isArray = true
	}
	if _, ok := recv.v.obj.(*memObj); ok {
		_, isArray = i.v.constInt() // of others user space takes what it wants
	}
	if recv.part && recv.known && i.known && (isArray || isArgs || recv.v.comp) {
		return u.partOf(x, x.X, recv, u.b.attributes().index(recv.v, i.v, x.Lbrack))
	}
	if isArgs && recv.part && recv.known {
		u.frame.choose(x)
	}
	if t, ok := recv.v.c.(plan.Tuple); ok && recv.known && i.known && fold.Unchanging(t) {
		var out val
		if attempt(func() { out = u.b.attributes().index(recv.v, i.v, x.Lbrack) }) == nil {
			return knownVal(out)
		}
	}
	u.use(recv)
	u.use(i)
	return uval{}
}

func (u *user) unary(x *syntax.UnaryExpr) uval {
	if x.X == nil {
		return uval{}
	}
	v := u.expr(x.X)
	u.certain().checkUnary(x, v)
	if !v.known {
		u.use(v)
		return uval{}
	}
	var out val
	r := attempt(func() {
		if x.Op == syntax.NOT {
			out = condVal(negate(u.b.ops().truth(v.v, x.OpPos), x.OpPos))
			return
		}
		out = u.b.ops().unaryVal(x.Op, v.v, x.OpPos)
	})
	if r != nil {
		u.use(v)
		return uval{}
	}
	fails := v.fails || x.Op != syntax.NOT && mayLack(v.v)
	return uval{v: out, known: true, part: v.part, caps: v.caps, fails: fails}
}

// mayLack reports whether v can be None or FAULT, with which nothing can be
// computed.
func mayLack(v val) bool {
	t := v.typ()
	return v.obj != nil || t.MayNone || t.MayFault || t.Kind == types.None
}

// mayFail reports whether x op y can be an error.
func mayFail(op syntax.Token, x, y val) bool {
	if op == syntax.EQL || op == syntax.NEQ {
		return false
	}
	return fold.MayFail(op, y.c) || mayLack(x) || mayLack(y)
}

func (u *user) binary(x *syntax.BinaryExpr) uval {
	l := u.expr(x.X)
	if x.Op == syntax.AND || x.Op == syntax.OR {
		return u.andOr(x, l)
	}
	if x.Op == syntax.IN || x.Op == syntax.NOT_IN {
		u.onlyAsks(x.Y)
	}
	r := u.expr(x.Y)
	if c := containerIn(r); c != nil && c.Kind == plan.Table && (x.Op == syntax.IN || x.Op == syntax.NOT_IN) {
		u.keyed(r, l, start(x.X))
	}
	u.certain().checkBinary(x, l, r)
	if x.Op == syntax.PERCENT {
		u.certain().checkPercent(x, l, r)
	}
	if l.known && r.known && (l.part || r.part) && !isRef(r.v) {
		var out val
		if attempt(func() { out = u.b.ops().binary(x.Op, l.v, r.v, x.OpPos) }) == nil {
			return uval{v: out, known: true, part: true, caps: united(l.caps, r.caps),
				fails: l.fails || r.fails || mayFail(x.Op, l.v, r.v)}
		}
	}
	if l.known && r.known && !l.part && !r.part {
		if v, ok := folded(x.Op, l.v.c, r.v.c); ok {
			return knownVal(v)
		}
	}
	u.use(l)
	u.use(r)
	return uval{}
}

// isRef reports whether v is a container: what user code asks of one is
// asked in user space.
func isRef(v val) bool { _, ok := v.c.(plan.Ref); return ok }

// andOr walks the right side only where the left one does not decide.
func (u *user) andOr(x *syntax.BinaryExpr, l uval) uval {
	if c, ok := u.truth(l); ok {
		u.use(l)
		if c == (x.Op == syntax.AND) {
			return u.expr(x.Y).after(l)
		}
		return l
	}
	u.use(l)
	u.frame.open = true
	r := u.expr(x.Y)
	u.use(r)
	return undecided(l, r)
}

// after is x where y is evaluated before it in the same expression.
func (x uval) after(y uval) uval {
	x.fails = x.fails || y.fails
	return x
}

// truth gives the truth of x where it is known while compiling.
func (u *user) truth(x uval) (value, ok bool) {
	if !x.known {
		return false, false
	}
	var c cond
	if attempt(func() { c = u.b.ops().truth(x.v, plan.Pos{}) }) != nil {
		return false, false
	}
	return c.value, c.known
}

func (u *user) condExpr(x *syntax.CondExpr) uval {
	c := u.expr(x.Cond)
	u.use(c)
	if value, ok := u.truth(c); ok {
		if value {
			return u.expr(x.True).after(c)
		}
		return u.expr(x.False).after(c)
	}
	u.frame.open = true
	yes := u.expr(x.True)
	u.use(yes)
	no := u.expr(x.False)
	u.use(no)
	return undecided(yes, no)
}

// unknown makes variables values of user space.
func (u *user) unknown(x syntax.Expr) {
	switch x := unparen(x).(type) {
	case *syntax.Ident:
		u.bind(x.Binding.(*resolve.Binding), uval{})
	case *syntax.TupleExpr:
		for _, e := range x.List {
			u.unknown(e)
		}
	case *syntax.ListExpr:
		for _, e := range x.List {
			u.unknown(e)
		}
	case *syntax.IndexExpr:
		recv, i := u.expr(x.X), u.expr(x.Y)
		u.writes().changesAt(x, recv)
		u.certain().checkIndex(x, recv, i)
		u.keyed(recv, i, start(x.Y))
		u.calling().noEvent(x.Y)
		u.use(recv)
		u.use(i)
	case *syntax.DotExpr:
		recv := u.expr(x.X)
		if recv.part && recv.known {
			readOnly(x, recv.v)
		}
		if c, _, ok := u.certain().containerOf(x.X, recv); ok {
			u.certain().clash(x.Dot, "%s of %s %s cannot be assigned; it has %s", x.Name.Name, c.Kind, name(c),
				strings.Join(containerNames(c, false), ", "))
		}
		u.use(recv)
	}
}
