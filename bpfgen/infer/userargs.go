package infer

import (
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/scope"
	"github.com/startrace/startrace/internal/plan"
)

// Arguments of calls in user halves: stars, names, defaults, and to which parameters they go.

// A given is an argument of a call in user code: one that is written there, or an element of what a star gives.
type given struct {
	name string // "" where it is given by position
	v    uval
	at   syntax.Expr // the argument as it is written, nil of an element
}

// A givenList is all that a call gives.
type givenList struct {
	list []given
	// more: a *list gives values of which nothing is known. named: a **dict does so, by names.
	more, named bool
	held        keeping // what these hold
}

// given are the arguments of a call. What a star gives is a value of user space: its elements are known where it is
// written there.
func (u arguments) given(x *syntax.CallExpr, vals []uval) (out givenList) {
	names := namesGiven(x)
	for i, a := range x.Args {
		switch op := starOf(a); {
		case op == syntax.STAR:
			u.capture(vals[i])
			elems := u.elementsIn(argValue(a), vals[i])
			if elems == nil {
				elems = u.elementWidths(vals[i])
			}
			if elems == nil {
				out.more, out.held = true, out.held|vals[i].holds()
			}
			for _, v := range elems {
				out.list = append(out.list, given{v: v})
			}
		case op == syntax.STARSTAR:
			u.capture(vals[i])
			if vals[i].entries == nil {
				out.named, out.held = true, out.held|vals[i].holds()
			}
			for _, e := range vals[i].entries {
				out.list = append(out.list, given{name: e.key, v: e.v})
			}
		default:
			out.list = append(out.list, given{names[i], vals[i], a})
		}
	}
	return out
}

// entriesOf are the entries of a dict that is written with constant texts for its keys, nil of others.
func entriesOf(keys, vals []uval) []entry {
	out := make([]entry, len(keys))
	for i, k := range keys {
		s, ok := k.v.constStr()
		if !ok || !k.known || k.part {
			return nil
		}
		out[i] = entry{s, vals[i]}
	}
	return out
}

// anyPart reports whether a part of the event is given, or what is shown by the width of a field.
func (g givenList) anyPart() bool {
	return slices.ContainsFunc(g.list, func(a given) bool { return a.v.part || a.v.bits != 0 })
}

// anyFunction reports whether a function is given, or a builtin that only the kernel can call.
func (g givenList) anyFunction() bool {
	return slices.ContainsFunc(g.list, func(a given) bool {
		return len(a.v.callees()) > 0 || a.v.known && readsIn(a.v.v.c, map[*plan.Func]bool{})
	})
}

// places says to which parameter each argument goes, as scope.Places does.
func (g givenList) places(def *resolve.Function) []int {
	names := make([]string, len(g.list))
	for i, a := range g.list {
		names[i] = a.name
	}
	return scope.Places(def, names)
}

// fits reports whether the function can take the arguments: if not, the interpreter says so when the call is made.
func (g givenList) fits(def *resolve.Function) bool {
	got := map[int]bool{}
	for _, at := range g.places(def) {
		if at == scope.TooMany || at == scope.Unknown && !def.HasKwargs || at >= 0 && got[at] {
			return false
		}
		got[at] = true
	}
	return true
}

// params binds what is known of the arguments. A part that turns out not to be used as a value is not passed.
func (u arguments) params(inner *userWalk, defaults []uval, g givenList) {
	def := inner.frame.Def
	params, positional := scope.Params(def)
	places := g.places(def)
	for i, p := range params {
		v := uval{held: g.held}
		if i < len(defaults) && !g.named && !(g.more && i < positional) {
			v = defaults[i]
		}
		inner.bind(scope.Bound(p), v)
	}
	var rest []uval
	for i, at := range places {
		a := g.list[i]
		if a.at != nil {
			u.mayDrop(u.half, argValue(a.at), a.v)
		}
		switch {
		case at >= 0:
			inner.bind(scope.Bound(params[at]), passed(a.v))
		case at == scope.Rest:
			rest = append(rest, passed(a.v))
		default: // it is in **named, a dict
			u.capture(a.v)
		}
	}
	if id := scope.RestParam(def); id != nil {
		v := tupleOf(rest)
		if g.more {
			v = uval{typ: "tuple", held: g.held}
		}
		inner.bind(scope.Bound(id), v)
	}
	if id := scope.NamedParam(def); id != nil {
		inner.bind(scope.Bound(id), uval{typ: "dict", held: g.held})
	}
}

// constantDefaults are the defaults of a function of the script.
func constantDefaults(fn *plan.Func) []uval {
	out := make([]uval, len(fn.Defaults))
	for i, d := range fn.Defaults {
		if d != nil {
			out[i] = knownVal(constant(d))
		}
	}
	return out
}
