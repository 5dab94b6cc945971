package diff

import (
	"fmt"
	"slices"
)

// Random calls by ways other than a name.
//
// A function need not be called by its name: it can come out of a tuple or a record, be an argument or a default of
// another one, or be chosen. Functions that are called with parts of the event have a copy for each call, whichever way
// the call is written.

// kernelCallees are expressions that give the function %[1]s, in both halves.
var kernelCallees = []string{"(%[1]s, 0)[0]", "(0, %[1]s)[-1]", "record(f = %[1]s).f", "(%[1]s or 0)", "(0 or %[1]s)",
	"(%[1]s if True else 0)", "(lambda f: f)(%[1]s)", "(lambda: %[1]s)()", "(lambda f = %[1]s: f)()"}

// userCallees are those of user space only.
var userCallees = []string{"[%[1]s][0]", "{\"k\": %[1]s}[\"k\"]", "dict(k = %[1]s)[\"k\"]", "[f for f in [%[1]s]][0]",
	"{\"k\": %[1]s}.get(\"k\")", "(lambda *f: f[0])(%[1]s)"}

// otherwise writes the call of a function in another way.
func (g *gen) otherwise(e *Expr) *Expr {
	name := e.Text
	ways := kernelCallees
	if g.user {
		ways = slices.Concat(ways, userCallees)
	}
	named := slices.ContainsFunc(e.Names, func(n string) bool { return n != "" })
	switch n := g.r.IntN(len(ways) + 4); {
	case n < len(ways):
		e.Text = fmt.Sprintf(ways[n], name)
		return e
	case named:
		return e
	case n == len(ways) && g.user:
		return g.chosenCall(e)
	default:
		return g.handedOn(e, n%2 == 0)
	}
}

// handedOn is the call by a function that gets the other one as an argument, or has it as a default.
func (g *gen) handedOn(e *Expr, asDefault bool) *Expr {
	f := g.name("l")
	inner := &Expr{Form: Call, Type: e.Type, Text: f}
	by := &Expr{Form: Lambda, Type: Type{Kind: Func}, Args: []*Expr{inner}}
	out := &Expr{Form: Apply, Type: e.Type, Args: []*Expr{by}}
	for _, a := range e.Args {
		p := g.name("l")
		by.Names = append(by.Names, p)
		inner.Args = append(inner.Args, leaf(a.Type, p))
		out.Args = append(out.Args, a)
	}
	if asDefault {
		by.Names = append(by.Names, f+" = "+e.Text)
		return out
	}
	by.Names = slices.Insert(by.Names, 0, f)
	out.Args = slices.Insert(out.Args, 1, leaf(Type{Kind: Func}, e.Text))
	return out
}

// chosenCall calls the function or another one with its parameters, as a condition says.
func (g *gen) chosenCall(e *Expr) *Expr {
	other := &Expr{Form: Lambda, Type: Type{Kind: Func}}
	var params []variable
	for _, a := range e.Args {
		p := g.name("l")
		other.Names = append(other.Names, p)
		if a.Type.Kind != Ptr && a.Text != "e" {
			params = append(params, variable{p, a.Type, true})
		}
	}
	g.withoutRounds(func() { g.knowing(params, func() { other.Args = []*Expr{g.expr(e.Type, 1)} }) })
	callee := &Expr{Form: Shape, Type: Type{Kind: Func}, Text: "(" + e.Text + " if " + hole + " else " + hole + ")",
		Args: []*Expr{g.expr(boolean, 1), other}}
	return &Expr{Form: Apply, Type: e.Type, Args: append([]*Expr{callee}, e.Args...)}
}
