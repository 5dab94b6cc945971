package infer

import (
	"slices"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// Calls in user halves: builtins, functions, methods; what the kernel computes of them (`eitherHalf`).

// call walks a call in user code.
func (u arguments) call(x *syntax.CallExpr) uval {
	u.proj.comesTo(place{u.half, x, aCall}, own)
	if l, ok := unparen(x.Fn).(*syntax.LambdaExpr); ok {
		return u.callInner(u.defined(l, "", l.Function.(*resolve.Function)).fn, x)
	}
	u.called = x
	fn := u.expr(x.Fn)
	if fn.fn != nil && !fn.away {
		return u.callInner(fn.fn, x)
	}
	if m, ok := fn.v.obj.(*eventMethod); ok && fn.known {
		return u.eventCall(m, x)
	}
	u.certain().checkCalled(x, fn)
	if fn.part {
		u.capture(fn)
		fn = uval{may: fn.may}
	}
	if fn.known {
		switch c := fn.v.c.(type) {
		case plan.Builtin:
			return u.builtin(builtinOf(c), x)
		case *plan.Func:
			return u.callFunc(c, x)
		}
	}
	dot, method := x.Fn.(*syntax.DotExpr)
	if list := fn.callees(); len(list) > 0 && !(method && u.isMethod(dot, fn)) {
		return u.choose(x, list)
	}
	if !method && !fn.known {
		return u.unknownCall(x, fn)
	}
	if method && dot.Name.Name == "join" {
		if v, ok := u.joined(dot, x); ok {
			return v
		}
	}
	if method && storing[dot.Name.Name] {
		for _, a := range x.Args {
			u.noEvent(argValue(a))
		}
	}
	vals := u.captureArgs(x.Args)
	if method {
		u.writes().changesBy(dot, x)
		if storing[dot.Name.Name] {
			u.keeps(dot.X, vals...)
			u.keepsFunctions(dot.X, x.Args, vals)
		}
		u.tableKey(dot, x.Args, vals)
		u.certain().checkMethod(dot, x.Args, vals)
		if v, ok := foldedMethod(u.nameOf(dot.X), dot.Name.Name, x, vals); ok {
			return knownVal(v)
		}
		recv := whileItRuns(u.nameOf(dot.X))
		if recv.was == nil {
			recv.may = fn.may
		}
		return methodGives(dot.Name.Name, recv, vals)
	}
	return uval{}
}

// isMethod reports whether what is behind a dot is a method, as that of a list or a dict, and no field of a record.
func (u arguments) isMethod(dot *syntax.DotExpr, fn uval) bool {
	switch typeName(u.nameOf(dot.X)) {
	case "list", "dict", "tuple":
		return true
	}
	return fn.was == nil && !fn.known && (storing[dot.Name.Name] || giving[dot.Name.Name])
}

// giving are the methods of lists and dicts that give what is in them.
var giving = map[string]bool{"get": true, "items": true, "keys": true, "pop": true, "popitem": true, "values": true}

// storing are the methods that keep what they are given.
var storing = map[string]bool{"append": true, "insert": true, "extend": true, "add": true, "set": true,
	"setdefault": true, "update": true}

// noEvent refuses to store an event: all that can be known of one would have
// to be read and sent.
func (u arguments) noEvent(x syntax.Expr) {
	switch x := unparen(x).(type) {
	case *syntax.Ident:
		if v, ok := u.frame.Lookup(x, captured); ok && v.part {
			if _, is := v.v.obj.(*event); is {
				wrong(x.NamePos, "%s itself cannot be stored: store its parts, as %s.pid, or a record of them", x.Name,
					x.Name)
			}
		}
	case *syntax.TupleExpr, *syntax.ListExpr:
		for _, e := range elementsOf(x) {
			u.noEvent(e)
		}
	case *syntax.DictExpr:
		for _, e := range x.List {
			u.noEvent(e.(*syntax.DictEntry).Value)
		}
	}
}

// eventCall is e.file(fd): it runs in the kernel wherever it stands.
func (u arguments) eventCall(m *eventMethod, x *syntax.CallExpr) uval {
	var args []arg
	for _, a := range x.Args {
		v := u.expr(argValue(a))
		if !v.known || starred(x.Args) {
			wrong(start(a), "e.%s runs in the kernel, but its argument is computed in user space", m.name)
		}
		args = append(args, argOf(a, v.v))
	}
	return u.partVal(x, u.b.inliner().callEvent(m, args, x.Lparen))
}

func (u arguments) captureArgs(args []syntax.Expr) []uval {
	vals := make([]uval, len(args))
	for i, a := range args {
		vals[i] = u.captureExpr(argValue(a))
	}
	return vals
}

// namesOf is names(v, family). Where the type of v has it the family can be left
// out, but only the kernel half knows of types.
func namesOf(u *userWalk, f *builtin, x *syntax.CallExpr) uval {
	if len(x.Args) != 1 || argValue(x.Args[0]) != x.Args[0] {
		vals := u.calling().captureArgs(x.Args)
		u.certain().checkBuiltin(f, x, vals)
		if len(vals) == 2 {
			if s, ok := vals[1].v.constStr(); ok && vals[1].known {
				u.pr.u.mustBeFamily(s, start(argValue(x.Args[1])))
			}
		}
		return uval{}
	}
	v := u.expr(x.Args[0])
	if v.part && v.known && u.b.enumOf(v.v) != "" {
		return u.partVal(x, callNames(u.b, []arg{{"", v.v, start(x.Args[0])}}, x.Lparen))
	}
	if v.known && v.v.isAbsent() {
		return v
	}
	wrong(x.Lparen, needsFamily)
	return uval{}
}

// builtin walks the call of a builtin.
func (u arguments) builtin(f *builtin, x *syntax.CallExpr) uval {
	checkBuiltinArguments(f.name, x)
	u.proj.asksType = u.proj.asksType || f.is(asksType)
	u.givesToTimer(f, x)
	if f.user != nil {
		return f.user(u.userWalk, f, x)
	}
	return u.byUser(f, x, u.values(x.Args))
}

// values are those of arguments that user space needs, and of which no container is changed.
func (u arguments) values(args []syntax.Expr) []uval {
	for _, a := range args {
		u.onlyAsks(a)
	}
	return u.captureArgs(args)
}

// asksArguments notes which arguments of a call are only read.
func (u arguments) asksArguments(fn uval, x *syntax.CallExpr) {
	for i, a := range x.Args {
		if starOf(a) == 0 && u.pr.u.changers.readsArgument(fn, x, i) {
			u.onlyAsks(argValue(a))
		}
	}
}

// byUser is the value of a call that user space makes; vals are the values of its arguments.
func (u arguments) byUser(f *builtin, x *syntax.CallExpr, vals []uval) uval {
	u.certain().checkBuiltin(f, x, vals)
	u.checkCallee(f, x, vals)
	u.ownWidth(f, x, vals)
	if v, ok := foldedCall(f, x, vals); ok {
		return knownVal(v)
	}
	if v, ok := u.oneElement(f, x, vals); ok {
		return v
	}
	return uval{typ: f.gives, bits: givenWidth(f.name, vals), row: givenRow(f.name, vals),
		elems: u.chosenElements(f, x, vals), may: calleesOf(vals), held: heldBy(f, vals)}
}

// updates is what the host makes of `x[k] op= v`.
func updates(u *userWalk, f *builtin, x *syntax.CallExpr) uval {
	vals := u.calling().captureArgs(x.Args)
	u.writes().changesIn(vals[0], x)
	u.keyed(vals[0], vals[1], start(x.Args[1]))
	return u.calling().byUser(f, x, vals)
}

// ofName is sizeof("T") or uaddr("FILE:SYMBOL"), of a name that only the kernel half knows.
func ofName(u *userWalk, f *builtin, x *syntax.CallExpr) uval {
	if len(x.Args) != 1 {
		return u.calling().byUser(f, x, u.calling().captureArgs(x.Args))
	}
	return u.partVal(x, f.kernel(u.b, []arg{{"", u.expr(x.Args[0]).v, start(x.Args[0])}}, x.Lparen))
}

// eitherHalf is a call that the kernel half makes of parts of the event, and user space of other values. What reads the
// kernel's memory only the kernel half can do.
func eitherHalf(u *userWalk, f *builtin, x *syntax.CallExpr) uval {
	return u.calling().either(f, x, func([]uval) bool { return false })
}

// castIn is cast(): to a number it is a conversion of C, which user space does, too.
func castIn(u *userWalk, f *builtin, x *syntax.CallExpr) uval {
	return u.calling().either(f, x, u.calling().castsNumber)
}

// extremeIn is min or max in a user half. Of ints that are parts of the event, and constants, the kernel half can make
// it, too, so that it can be the length of what is read: mem(p, min(n, 64)).
func extremeIn(u *userWalk, f *builtin, x *syntax.CallExpr) uval {
	part := false
	u.calling().asksArguments(knownVal(constant(plan.Builtin(f.name))), x) // else what is given is given back
	for _, a := range x.Args {
		if argValue(a) != a {
			return u.calling().byUser(f, x, u.calling().captureArgs(x.Args))
		}
	}
	vals := make([]uval, len(x.Args))
	ints := len(x.Args) > 1
	for i, a := range x.Args {
		vals[i] = u.expr(a)
		part = part || vals[i].part
		ints = ints && vals[i].known && vals[i].v.obj == nil && vals[i].v.typ().Kind == types.Int &&
			vals[i].v.typ().Label == ""
	}
	if part && ints {
		return u.calling().byKernel(f, x, vals)
	}
	for _, v := range vals {
		u.capture(v)
	}
	return u.calling().byUser(f, x, vals)
}

// either is eitherHalf. number says of the arguments that user space computes the call, too, though it reads.
func (u arguments) either(f *builtin, x *syntax.CallExpr, number func([]uval) bool) uval {
	vals := make([]uval, len(x.Args))
	part, known := false, true
	for i, a := range x.Args {
		if f.name == "bool" {
			vals[i] = u.asked(argValue(a))
		} else {
			vals[i] = u.expr(argValue(a))
		}
		part = part || vals[i].part
		known = known && vals[i].known
	}
	if v, ok := foldedCall(f, x, vals); ok {
		return knownVal(v)
	}
	reads := f.is(readsKernel)
	converts := number(vals)
	if !known && !part && reads && !converts {
		u.notesRead(f, x)
	}
	switch {
	case !part && !(known && reads): // the kernel reads at a constant address, too
	case converts && computed(vals[1]):
		u.capture(vals[1]) // ints of user space have no limit, and those of the kernel have 64 bits
		return uval{typ: "int"}
	case !known && reads && !converts:
		u.cannotRead(f, x)
	case known && (reads || !slices.ContainsFunc(vals, isFloat)): // user space computes with floats
		return u.byKernel(f, x, vals)
	}
	for _, v := range vals {
		u.capture(v)
	}
	return uval{}
}

// lenOf is len(x) in a user half, where only the kernel knows the length of a list of a program, and of an array of a
// tracepoint that may be cut. An array need be no value for its length.
func lenOf(u *userWalk, f *builtin, x *syntax.CallExpr) uval {
	if len(x.Args) != 1 {
		return u.calling().byUser(f, x, u.calling().captureArgs(x.Args))
	}
	u.calling().onlyAsks(x.Args[0])
	v := u.expr(argValue(x.Args[0]))
	if v.part && v.known {
		_, ofEvent := v.v.obj.(*dynArray)
		_, ofLibrary := library{u.b}.size(v.v, x.Lparen)
		o, ofGo := v.v.obj.(*goValue)
		ofArray := v.v.arrayLen() > 0
		if ofGo && o.counts() || ofEvent || ofLibrary || ofArray || u.b.attributes().isList(v.v, x.Lparen) {
			return u.partOf(x, argValue(x.Args[0]), v, f.kernel(u.b, []arg{{"", v.v, start(x.Args[0])}}, x.Lparen))
		}
		u.b.attributes().noPointer(v.v, x.Lparen)
	}
	u.capture(v)
	return u.calling().byUser(f, x, []uval{v})
}

// argOf is an argument as it is written, with its name, whose value is v.
func argOf(x syntax.Expr, v val) arg {
	out := arg{"", v, start(argValue(x))}
	if bin, ok := x.(*syntax.BinaryExpr); ok && bin.Op == syntax.EQ {
		out.name = bin.X.(*syntax.Ident).Name
	}
	return out
}

// byKernel is a call that the kernel half makes.
func (u arguments) byKernel(f *builtin, x *syntax.CallExpr, vals []uval) uval {
	args := make([]arg, len(vals))
	var caps *captures
	for i, a := range x.Args {
		args[i] = argOf(a, vals[i].v)
		caps = united(caps, vals[i].caps)
	}
	v := f.kernel(u.b, args, x.Lparen)
	if f.is(readsKernel) {
		return u.instead(x, vals, u.b.absorbed(v))
	}
	fails, from := false, make([]val, len(vals))
	for i, a := range vals {
		fails, from[i] = fails || a.fails, a.v
	}
	fails = fails || endsAbove(v, from...)
	return uval{v: v, known: true, part: true, caps: caps, fails: fails}
}

// instead is a call that the kernel half makes. Arguments that fail or have an
// effect are computed in user space all the same.
func (u arguments) instead(x *syntax.CallExpr, vals []uval, v val) uval {
	out := u.partVal(x, v)
	first := &syntax.TupleExpr{Lparen: x.Lparen, Rparen: x.Rparen}
	for i, a := range x.Args {
		if vals[i].fails {
			u.capture(vals[i])
			first.List = append(first.List, argValue(a))
		}
	}
	if first.List == nil {
		return out
	}
	u.half.First[x] = first
	out.first, out.fails = first, true
	return out
}

// isRecord reports whether v is a record that is made at run time: user space knows whether it is there.
func isRecord(v val) bool { return v.expr != nil && v.expr.Type.Kind == types.Record }

// hasOrGetAttr folds for the point; the result is sent, because another
// point of the probe may have another.
func hasOrGetAttr(u *userWalk, f *builtin, x *syntax.CallExpr) uval {
	u.calling().asksArguments(knownVal(constant(plan.Builtin(f.name))), x)
	if len(x.Args) < 2 {
		u.calling().captureArgs(x.Args)
		return uval{}
	}
	recv := u.expr(x.Args[0])
	field := u.expr(x.Args[1])
	s, ok := field.v.constStr()
	if !recv.part || !recv.known || !ok || isText(recv.v) || isRecord(recv.v) {
		if ok && recv.part && !recv.known && recv.caps.lead() {
			u.frame.chooses(&chosenArg{asked: x, name: s})
		}
		u.capture(recv)
		more := u.calling().captureArgs(x.Args[1:])
		if v, is := wasField(recv, s); is && ok && len(v.callees()) > 0 {
			return v
		}
		return uval{may: withCallees(recv.callees(), calleesOf(more)...)}
	}
	var v val
	r := refusal.Attempt(func() { v = u.b.attributes().ownAttr(recv.v, s, x.Lparen) })
	switch {
	case f.name == "hasattr":
		return u.partVal(x, boolVal(r == nil))
	case r == nil:
		return u.partVal(x, v)
	case len(x.Args) == 3:
		d := u.expr(x.Args[2])
		if d.known {
			return u.partVal(x, d.v)
		}
		wrong(x.Lparen, "the default of getattr is computed in user space: use hasattr and if")
	}
	panic(r)
}

// callFunc walks a call of a function of the script. If it gets parts of the
// event, a copy of the function is made for this call.
func (u arguments) callFunc(fn *plan.Func, x *syntax.CallExpr) uval {
	u.asksArguments(uval{v: constant(fn), known: true}, x)
	vals := make([]uval, len(x.Args))
	for i, a := range x.Args {
		vals[i] = u.expr(argValue(a))
	}
	u.noteContainers(fn, x.Lparen, false)
	def := resolved(fn)
	hasDefault := func(i int) bool { return i < len(fn.Defaults) && fn.Defaults[i] != nil }
	u.certain().checkArguments(fn.Name, def, x, hasDefault)
	if v, ok := u.foldFunc(fn, x, vals); ok {
		return knownVal(v)
	}
	child, ok := u.half.Calls[x]
	gives := u.given(x, vals)
	wanted := gives.anyPart() || gives.anyFunction() || u.givesFunctions(fn) || gives.readAtHeld(fn)
	if wanted && !ok {
		u.checkCopies(x, gives)
	}
	if !wanted || !gives.fits(def) || len(u.chain) > maxInline || !ok && *u.copies >= maxCopies {
		for _, v := range vals {
			u.capture(v)
		}
		checkAway(fn, map[*plan.Func]bool{})
		return uval{}
	}
	u.proj.comesTo(place{u.half, x, aCall}, fn)
	if ok && child.Fn != fn && u.proj.elsewhere(child) {
		ok = false // another version follows
	}
	if ok && child.Fn != fn {
		wrong(x.Lparen, "which function is called here depends on the point: call each of them behind an if")
	}
	if slices.Contains(u.chain, fn) {
		if u.frame.firstGeneric(map[*uframe]bool{}) != nil { // it runs later, if at all
			return uval{}
		}
		wrong(x.Lparen, "%s calls itself: Starlark has no recursion", fn.Name)
	}
	if !ok {
		*u.copies++
		child = plan.NewUserHalf(fn)
		u.proj.madeIn[child] = u.proj.current()
		u.half.Calls[x] = child
	}
	inner := &userWalk{proj: u.proj, pr: u.pr, b: u.b, half: child, nested: u.nested,
		chain: append(slices.Clip(u.chain), fn), inside: u.inside, copies: u.copies}
	inner.frame = newFrame(fn, def)
	inner.frame.by, inner.frame.open = u.frame, u.frame.perhaps()
	asked := u.proj.asked
	u.params(inner, constantDefaults(fn), gives)
	falls := inner.stmts(def.Body)
	v := u.result(inner, falls)
	v.fails = v.fails || !plain(def.Body) || u.proj.asked != asked || anyFails(x, vals)
	return v
}

// checkCopies refuses a call for which no copy of the function is left, where the function could see that: it would get
// a struct as a number, or an int without the width of its field. Other values are the same for the function itself.
func (u arguments) checkCopies(x *syntax.CallExpr, gives givenList) {
	if *u.copies >= maxCopies && slices.ContainsFunc(gives.list, func(a given) bool {
		return a.v.leads() || fieldWidth(a.v) != 0
	}) {
		wrong(x.Lparen, "this handler calls functions with parts of the event more than %d times, each call as often "+
			"as its function is called: give computed values, as f(e.task.pid + 0), which have 64 bits",
			maxCopies)
	}
}

// anyFails reports whether computing an argument can fail or be noticed.
func anyFails(x *syntax.CallExpr, vals []uval) bool {
	for i, a := range x.Args {
		if mayFail(argValue(a), vals[i]) {
			return true
		}
	}
	return false
}

// mayFail reports whether computing x, whose value is v, can fail or be noticed.
func mayFail(x syntax.Expr, v uval) bool {
	if v.fails || v.part {
		return v.fails
	}
	if !plain([]syntax.Stmt{&syntax.ExprStmt{X: x}}) {
		return true
	}
	asks := false // a value of user space may not have the field
	syntax.Walk(x, func(n syntax.Node) bool {
		_, dot := n.(*syntax.DotExpr)
		asks = asks || dot
		return !asks
	})
	return asks
}

// result is the value of a call: a part if that is all the function returns.
func (u arguments) result(inner *userWalk, falls bool) uval {
	returns := inner.frame.returns
	if len(returns) == 1 && returns[0].part && !falls {
		return passed(returns[0])
	}
	if v, ok := resultKnown(returns, falls); ok {
		return v
	}
	for _, r := range returns {
		u.capture(r)
	}
	if len(returns) == 1 && returns[0].typ == "tuple" && !falls {
		return passed(returns[0])
	}
	return undecided(returns...)
}

// joined is sep.join(list) of a char ** in user code: the kernel half joins it, for a string of it that could not be
// read is no string there.
func (u arguments) joined(dot *syntax.DotExpr, x *syntax.CallExpr) (uval, bool) {
	recv := u.expr(dot.X)
	sep, ok := recv.v.constStr()
	if !ok || len(sep) != 1 || len(x.Args) != 1 || argValue(x.Args[0]) != x.Args[0] {
		return uval{}, false
	}
	list := u.expr(x.Args[0])
	if !list.known || !list.part {
		return uval{}, false
	}
	if _, ok := (stringLists{u.b.memory()}).of(list.v, x.Lparen); !ok {
		return uval{}, false
	}
	return u.partVal(x, u.b.memory().joined(sep, list.v, x.Lparen)), true
}

// errnoOf is errno(p) in user code. Where p is a pointer only the kernel half knows that it is no number.
func errnoOf(u *userWalk, f *builtin, x *syntax.CallExpr) uval {
	vals := u.calling().values(x.Args)
	out := u.calling().byUser(f, x, vals)
	if len(vals) == 1 && vals[0].part && vals[0].known && vals[0].v.typ().Kind == types.Ptr {
		return u.partVal(x, u.b.labelled(vals[0].v, "errno", x.Lparen))
	}
	return out
}

// castsNumber reports whether a cast is to a number.
func (u arguments) castsNumber(args []uval) bool {
	if len(args) != 2 || !args[0].known {
		return false
	}
	to, ok := args[0].v.constStr()
	b, err := u.b.u.facts.BTF()
	if !ok || err != nil {
		return false
	}
	to = strings.TrimSpace(to)
	if id, declared := scriptTypes(u.b.u).Named(to); declared {
		_, ok = kernel.NumberOf(b, id)
		return ok
	}
	_, ok = b.Number(to)
	return ok
}

// computed reports whether a value is what operators make of ints.
func computed(v uval) bool {
	return v.known && v.v.expr != nil && !isField(v.v.expr) && v.v.typ().Kind == types.Int
}

// checkMethod is about the call of a method.
func (u certainty) checkMethod(dot *syntax.DotExpr, args []syntax.Expr, vals []uval) {
	if dot.Name.Name == "add" {
		u.checkAdd(dot, vals)
	}
	if dotted(dot) != "" {
		u.checkStringMethod(dot, u.expr(dot.X), args, vals)
	}
}
