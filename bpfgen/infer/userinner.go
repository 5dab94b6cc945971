package infer

import (
	"slices"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/scope"
	"github.com/startrace/startrace/internal/plan"
)

// Functions and lambdas inside user halves: calls of them, copies, defaults.

// defined is the function of a def, or of a lambda that a name is given.
func (u arguments) defined(node syntax.Node, name string, def *resolve.Function) uval {
	f := &inner{node: node, name: name, def: def, outer: u.frame, half: u.half, nested: u.nested}
	for _, p := range def.Params {
		if bin, ok := p.(*syntax.BinaryExpr); ok {
			v := u.expr(bin.Y)
			u.capture(v)
			f.defaults = append(f.defaults, v)
		} else if starOf(p) == 0 {
			f.defaults = append(f.defaults, uval{})
		}
	}
	if f.nested == nil {
		f.nested = node
	}
	return uval{fn: f}
}

// callInner walks a call of a function inside the handler.
func (u arguments) callInner(f *inner, x *syntax.CallExpr) uval {
	if slices.Contains(u.inside, f.def) {
		wrong(x.Lparen, "%s calls itself: Starlark has no recursion", f.name)
	}
	u.asksArguments(uval{fn: f}, x)
	vals := make([]uval, len(x.Args))
	for i, a := range x.Args {
		vals[i] = u.expr(argValue(a))
	}
	u.certain().checkArguments(f.title(), f.def, x, f.hasDefault)
	to, ok := u.half.To[x]
	gives := u.given(x, vals)
	if !ok {
		u.checkCopies(x, gives)
	}
	if !ok && (!gives.fits(f.def) || *u.copies >= maxCopies) {
		for _, v := range vals {
			u.capture(v)
		}
		if f.name == "" { // a def or a lambda with a name was walked where that is
			u.function(f)
		}
		f.mayLeave()
		return uval{}
	}
	u.proj.comesTo(place{u.half, x, aCall}, f.node)
	if ok && !slices.Contains(f.half.Copies[f.node], to) && u.proj.elsewhere(to.Half) {
		ok = f.name == "" // of another function: another version follows
	}
	if !ok {
		to = u.newCopy(f)
		u.half.To[x] = to
		u.proj.madeIn[to.Half] = u.proj.current()
	}
	if f.name != "" && !slices.Contains(f.half.Copies[f.node], to) {
		wrong(x.Lparen, "which function is called here depends on the point: call each of them behind an if")
	}
	return u.callCopy(f, x, vals, gives, to)
}

// title is the name of a function in messages.
func (f *inner) title() string {
	if f.name == "" {
		return "the lambda"
	}
	return f.name
}

// hasDefault reports whether a parameter need not be given.
func (f *inner) hasDefault(i int) bool {
	for _, p := range f.def.Params {
		if starOf(p) != 0 {
			continue
		}
		if i == 0 {
			_, has := p.(*syntax.BinaryExpr)
			return has
		}
		i--
	}
	return false
}

// callCopy walks a call that goes to a copy of a function inside the handler.
func (u arguments) callCopy(f *inner, x *syntax.CallExpr, vals []uval, gives givenList, to *plan.Copy) uval {
	in := &userWalk{proj: u.proj, pr: u.pr, b: u.b, half: to.Half, nested: f.nested, chain: u.chain,
		inside: append(slices.Clip(u.inside), f.def), copies: u.copies}
	in.frame = newFrame(nil, f.def)
	in.frame.within(f.outer)
	in.frame.by, in.frame.open = u.frame, u.frame.perhaps()
	asked := u.proj.asked
	u.params(in, f.defaults, gives)
	falls := in.stmts(f.def.Body)
	v := u.result(in, falls)
	v.fails = v.fails || !plain(f.def.Body) || u.proj.asked != asked || anyFails(x, vals) ||
		f.name == "" && f.defaultFails()
	return v
}

// defaultFails reports whether computing a default can fail or be noticed. That of a lambda without a name is part of
// its call.
func (f *inner) defaultFails() bool {
	i := 0
	for _, p := range f.def.Params {
		if starOf(p) != 0 {
			continue
		}
		if bin, ok := p.(*syntax.BinaryExpr); ok && mayFail(bin.Y, f.defaults[i]) {
			return true
		}
		i++
	}
	return false
}

// newCopy gives a copy a name that no script can have.
func (u arguments) newCopy(f *inner) *plan.Copy {
	*u.copies++
	if f.name == "" {
		return &plan.Copy{Half: u.half.Part()}
	}
	to := &plan.Copy{Name: f.name + strings.Repeat(" ", *u.copies), Half: f.half.Part()}
	f.half.Copies[f.node] = append(f.half.Copies[f.node], to)
	return to
}

// function walks a function defined inside the handler: it may run later,
// when another event is current. What must be known of its calls is in f then.
func (u arguments) function(f *inner) {
	at, def, defaults, timed := f.node, f.def, f.defaults, u.isTimed(f)
	outer, was := u.frame, u.nested
	u.frame = newFrame(nil, def)
	u.frame.within(outer)
	u.frame.generic, u.frame.timed = true, timed
	if u.nested == nil {
		u.nested = at
	}
	for _, p := range def.Params {
		if id := scope.ParamName(p); id != nil {
			u.frame.Vars.Set(scope.Bound(id), uval{})
		}
	}
	params, _ := scope.Params(def)
	for i, v := range defaults {
		if v.leads() { // which part it is depends on the call
			u.frame.Vars.Set(scope.Bound(params[i]), carried(v))
		}
	}
	inside := u.inside
	u.inside = append(slices.Clip(inside), def)
	u.stmts(def.Body)
	for _, r := range u.frame.returns {
		u.capture(r)
	}
	f.chosen, f.reads = u.frame.chosen, u.frame.reads
	u.frame, u.nested, u.inside = outer, was, inside
}
