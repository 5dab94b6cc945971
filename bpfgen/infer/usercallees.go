package infer

import (
	"fmt"
	"slices"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// Which functions a call in a user half may run, where a list, a dict or a condition chooses the function.
//
// Which function a call runs can be decided in user space: it comes out of a list or a dict, a condition or a loop
// chooses it, or it was given as an argument. The functions that it may be are known by where they stand in the script
// (uval.may), and what each of them takes of the event is read for it. The host asks which one it is, and calls the
// copy of that (plan.Choices).

// callees are the functions that a value may be, or that what is in it may be.
func (x uval) callees() []callee {
	out := x.may
	if x.fn != nil {
		out = withCallees(out, callee{in: x.fn})
	}
	if x.known {
		out = withCallees(out, functionsIn(x.v.c)...)
	}
	out = withCallees(out, functionsIn(x.was)...)
	for _, e := range x.elems {
		out = withCallees(out, e.callees()...)
	}
	for _, e := range x.entries {
		out = withCallees(out, e.v.callees()...)
	}
	return out
}

// withCallees adds to a list what is not in it.
func withCallees(list []callee, more ...callee) []callee {
	out := slices.Clip(list)
	for _, c := range more {
		if !slices.ContainsFunc(out, c.is) {
			out = append(out, c)
		}
	}
	return out
}

// is reports whether both are the same place of the script.
func (c callee) is(d callee) bool {
	if c.in == nil || d.in == nil {
		return c.fn == d.fn && c.in == d.in
	}
	return c.in.node == d.in.node && c.in.half == d.in.half
}

// functionsIn are the functions in a constant.
func functionsIn(c plan.Value) (out []callee) {
	if fn, ok := c.(*plan.Func); ok {
		return []callee{{fn: fn}}
	}
	for _, x := range plan.Inside(c) {
		out = append(out, functionsIn(x)...)
	}
	return out
}

// calleesOf are the functions that one of some values may be.
func calleesOf(list []uval) (out []callee) {
	for _, v := range list {
		out = withCallees(out, v.callees()...)
	}
	return out
}

// wasAt is an element of what was a list or a dict when the script had run, as far as it concerns functions.
func wasAt(c plan.Value, i uval) uval {
	all := uval{may: functionsIn(c)}
	if !i.known || i.v.c == nil {
		return all
	}
	v := elementOf(c, i, all)
	if _, is := v.was.(plan.Builtin); len(all.may) == 0 && !is {
		return all
	}
	return v
}

// wasField is a field of what is a record of the script, as far as it concerns functions; false if there is none.
func wasField(recv uval, name string) (uval, bool) {
	r, ok := recv.was.(plan.Record)
	if c, is := recv.v.c.(plan.Record); is && recv.known {
		r, ok = c, true
	}
	if !ok {
		return uval{}, false
	}
	for _, f := range r {
		if f.Name == name {
			return uval{was: f.Value}, true
		}
	}
	return uval{}, false
}

// elementOf is an element of a constant; all is what is known of each.
func elementOf(c plan.Value, i, all uval) uval {
	n, isInt := i.v.constInt()
	at := func(list []plan.Value) uval {
		if n < 0 {
			n += int64(len(list))
		}
		if !isInt || n < 0 || n >= int64(len(list)) {
			return all
		}
		return uval{was: list[n]}
	}
	switch c := c.(type) {
	case plan.Tuple:
		return at(c)
	case plan.List:
		return at(c)
	case plan.Dict:
		key := fmt.Sprintf("%T %v", i.v.c, i.v.c)
		for _, e := range c {
			if fmt.Sprintf("%T %v", e.Key, e.Key) == key {
				return uval{was: e.Value}
			}
		}
	}
	return all
}

// methodGives is what a method gives, as far as it concerns functions: one that was in the list or dict.
func methodGives(name string, recv uval, vals []uval) uval {
	if name == "get" && recv.was != nil && len(vals) > 0 {
		v := wasAt(recv.was, vals[0])
		v.may, v.held = withCallees(v.may, calleesOf(vals)...), holdsOf(vals...)
		return v
	}
	out := uval{may: withCallees(recv.callees(), calleesOf(vals)...)}
	if giving[name] {
		out.held = recv.holds() | holdsOf(vals...)
	}
	return out
}

// choose walks a call of which user space decides which of some functions it is.
func (u arguments) choose(x *syntax.CallExpr, list []callee) uval {
	vals := make([]uval, len(x.Args))
	for i, a := range x.Args {
		vals[i] = u.expr(argValue(a))
	}
	g := u.given(x, vals)
	if !g.anyPart() && !g.anyHeld() && !g.anyFunction() && !slices.ContainsFunc(list, callee.mustBeSeen) {
		for _, v := range vals {
			u.capture(v)
		}
		return uval{}
	}
	u.proj.comesTo(place{u.half, x, aCall}, several)
	if u.half.Choices[x] == nil {
		u.checkCopies(x, g)
	}
	leads := slices.ContainsFunc(g.list, func(a given) bool { return a.v.leads() }) ||
		slices.ContainsFunc(list, callee.mustBeSeen)
	u.frame.open = true
	list = slices.DeleteFunc(slices.Clone(list), func(c callee) bool { return !u.takes(c, g) })
	var results []uval
	for _, c := range list {
		results = append(results, u.chosen(x, c))
	}
	switch {
	case len(results) == 0 && leads:
		u.frame.chooses(&chosenArg{call: x})
		return uval{}
	case leads && len(results) == 1:
		u.half.Choices[x].Parts = true
		results[0].fails = true
		return results[0]
	}
	for _, v := range results {
		u.capture(v)
	}
	if leads {
		u.half.Choices[x].Parts = true
		return undecided(results...)
	}
	for _, v := range vals {
		u.capture(v)
	}
	return uval{bits: commonWidth(results...), may: calleesOf(results), held: holdsOf(results...)}
}

// mustBeSeen reports whether calls of a function are not left to user space alone.
func (c callee) mustBeSeen() bool {
	if c.fn != nil {
		return readsIn(c.fn, map[*plan.Func]bool{})
	}
	return c.in.chosen != nil || c.in.reads != nil
}

// takes reports whether a function can be what is called with the arguments.
func (u arguments) takes(c callee, g givenList) bool {
	def := c.resolved()
	if *u.copies >= maxCopies || len(u.chain) > maxInline || slices.Contains(u.inside, def) || !g.fits(def) {
		return false
	}
	if c.fn != nil && slices.Contains(u.chain, c.fn) {
		return false
	}
	if g.more || g.named {
		return true
	}
	places := g.places(def)
	n := -1
	for _, p := range def.Params {
		if starOf(p) != 0 {
			continue
		}
		n++
		_, has := p.(*syntax.BinaryExpr)
		if !has && !slices.Contains(places, n) {
			return false
		}
	}
	return true
}

// chosen walks a call as that of one of the functions that it may be.
func (u arguments) chosen(x *syntax.CallExpr, c callee) uval {
	one := u.choice(x, c)
	half := u.half
	u.half = one.Half
	defer func() { u.half = half }()
	if c.fn != nil {
		return u.callFunc(c.fn, x)
	}
	vals := make([]uval, len(x.Args))
	for i, a := range x.Args {
		vals[i] = u.expr(argValue(a))
	}
	return u.callCopy(c.in, x, vals, u.given(x, vals), one.Inner.Copies[one.Copy])
}

// choice is the way to call one of the functions.
func (u arguments) choice(x *syntax.CallExpr, c callee) *plan.Choice {
	all := u.half.Choices[x]
	if all == nil {
		all = &plan.Choices{}
		u.half.Choices[x] = all
	}
	var bundle *plan.Bundle
	if c.in != nil {
		bundle = c.in.half.Bundles[c.in.node]
		if bundle == nil {
			bundle = &plan.Bundle{}
			c.in.half.Bundles[c.in.node] = bundle
		}
	}
	for _, one := range all.Of {
		if one.Fn == c.fn && one.Inner == bundle {
			return one
		}
	}
	*u.copies++
	one := &plan.Choice{Fn: c.fn, Inner: bundle, Half: u.half.Part()}
	if bundle != nil {
		one.Copy = len(bundle.Copies)
		bundle.Copies = append(bundle.Copies, &plan.Copy{Name: fmt.Sprintf("%s $%d", c.in.name, *u.copies),
			Half: c.in.half.Part()})
	}
	all.Of = append(all.Of, one)
	return one
}

// unknownCall walks a call of what is no function that is known. It cannot get what only the kernel reads.
func (u arguments) unknownCall(x *syntax.CallExpr, fn uval) uval {
	if name, ok := fn.was.(plan.Builtin); ok && builtinOf(name).is(readsKernel) {
		wrong(x.Lparen, readsByName, name)
	}
	vals := make([]uval, len(x.Args))
	for i, a := range x.Args {
		vals[i] = u.expr(argValue(a))
	}
	if slices.ContainsFunc(u.given(x, vals).list, func(a given) bool { return a.v.leads() }) {
		u.frame.chooses(&chosenArg{call: x})
		return uval{}
	}
	u.noReaders(x.Args, vals)
	for _, v := range vals {
		u.capture(v)
	}
	return uval{}
}

// givesFunctions reports whether what a function returns may be a function, or have some in it.
func (u arguments) givesFunctions(fn *plan.Func) bool {
	known := u.pr.u.givers
	if gives, ok := known[fn]; ok {
		return gives
	}
	known[fn] = false // while it is asked
	g := giver{u, newFrame(fn, resolved(fn)), map[string]bool{}}
	for _, s := range resolved(fn).Body {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.DefStmt, *syntax.LambdaExpr:
				return false
			case *syntax.ReturnStmt:
				known[fn] = known[fn] || n.Result != nil && g.gives(n.Result)
			}
			return true
		})
	}
	return known[fn]
}

// A giver looks for functions in what a function returns.
type giver struct {
	u     arguments
	frame *uframe
	seen  map[string]bool // variables that were looked at
}

func (g giver) gives(x syntax.Expr) bool {
	switch x := unparen(x).(type) {
	case *syntax.LambdaExpr:
		return true
	case *syntax.Ident:
		v, ok := g.frame.Lookup(x, captured)
		return ok && len(v.callees()) > 0 || !ok && g.variable(x.Name)
	case *syntax.CondExpr:
		return g.gives(x.True) || g.gives(x.False)
	case *syntax.BinaryExpr:
		return g.gives(x.X) || g.gives(x.Y)
	case *syntax.IndexExpr:
		return g.gives(x.X)
	case *syntax.CallExpr:
		if dot, ok := x.Fn.(*syntax.DotExpr); ok {
			return g.gives(dot.X)
		}
		id, ok := unparen(x.Fn).(*syntax.Ident)
		if !ok {
			return false
		}
		v, _ := g.frame.Lookup(id, captured)
		fn, ok := v.v.c.(*plan.Func)
		return ok && g.u.givesFunctions(fn)
	case *syntax.TupleExpr, *syntax.ListExpr:
		return slices.ContainsFunc(elementsOf(x), g.gives)
	}
	return false
}

// variable reports whether a variable of the function may have functions.
func (g giver) variable(name string) bool {
	if g.seen[name] {
		return false
	}
	g.seen[name] = true
	found := false
	for _, s := range g.frame.Def.Body {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.DefStmt:
				found = found || n.Name.Name == name
				return false
			case *syntax.AssignStmt:
				id, ok := unparen(n.LHS).(*syntax.Ident)
				found = found || ok && id.Name == name && g.gives(n.RHS)
			}
			return true
		})
	}
	return found
}

// asReturned is a value as it is behind a return: a function inside has the variables of that time.
func asReturned(v uval) uval {
	if v.fn != nil && v.fn.outer != nil {
		f, outer := *v.fn, *v.fn.outer
		f.outer = &outer
		v.fn = &f
	}
	if v.elems != nil {
		v.elems = slices.Clone(v.elems)
		for i, e := range v.elems {
			v.elems[i] = asReturned(e)
		}
	}
	return v
}
