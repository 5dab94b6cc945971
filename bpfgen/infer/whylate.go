package infer

import (
	"fmt"
	"maps"
	"slices"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// The reason why the kernel cannot make a change at its place in a user half, and what to do.
//
// What the kernel could make, but not at its place, is refused. This file finds what is in the way at the place: the
// kernel makes changes that stand in the handler, or in functions of the script that the handler calls by their names
// and that do nothing else.

// whyNotHere says what keeps the kernel from making the change that is walked, and what to do; "" if that is in the
// handler itself.
func (u laterWrites) whyNotHere() string {
	in := u.chain[len(u.chain)-1]
	switch {
	case len(u.inside) > 0:
		return "it stands in a function within the handler. Write that function at the top of the script"
	case len(u.chain) == 1:
		return ""
	}
	for i, fn := range u.chain[1:] {
		if !calledByName(u.chain[i], fn) {
			return functionInWords(fn) + " is not called by its name here, but by a variable. Call it by its name in " +
				"the handler"
		}
	}
	if other, at := u.alsoChanged(in); other != nil {
		return fmt.Sprintf("%s also changes %s %s (%s), which no kernel half reads. Leave the one of them to another "+
			"function, or to the handler itself", functionInWords(in), other.Kind, name(other), at)
	}
	return fmt.Sprintf("%s does more than that. Leave the change to a function that does nothing else, or to the "+
		"handler itself", functionInWords(u.chain[1]))
}

// functionInWords is a function of the script in words.
func functionInWords(fn *plan.Func) string {
	if fn.Def == nil {
		return fmt.Sprintf("the lambda of %s", fn.Pos)
	}
	return fn.Name + "()"
}

// alsoChanged is a container that a function changes beside, and that no kernel half of another probe reads, with the
// place where it has it.
func (u laterWrites) alsoChanged(fn *plan.Func) (c *plan.Container, at plan.Pos) {
	for _, id := range slices.Sorted(maps.Keys(u.pr.u.changers.of(fn).containers)) {
		if c := u.pr.u.plan.Containers[id]; !u.askedElsewhere(c) {
			if at := placeOf(fn, c); at.IsValid() {
				return c, at
			}
		}
	}
	return nil, at
}

// placeOf is where a function has a container by its name.
func placeOf(fn *plan.Func, c *plan.Container) (at plan.Pos) {
	eachName(fn, func(id *syntax.Ident) {
		if ref, ok := fn.Names[id.Name].(plan.Ref); ok && ref.ID == c.ID && !at.IsValid() {
			at = id.NamePos
		}
	})
	return at
}

// calledByName reports whether a function has calls of another one by a name.
func calledByName(fn, of *plan.Func) (found bool) {
	syntax.Walk(&syntax.ForStmt{Vars: noName, X: noName, Body: resolved(fn).Body}, func(n syntax.Node) bool {
		if x, ok := n.(*syntax.CallExpr); ok {
			called, is := fn.Names[nameIn(x.Fn).Name].(*plan.Func)
			found = found || is && called == of
		}
		return !found
	})
	return found
}

// eachName calls f with the names in the body of a function.
func eachName(fn *plan.Func, f func(*syntax.Ident)) {
	syntax.Walk(&syntax.ForStmt{Vars: noName, X: noName, Body: resolved(fn).Body}, func(n syntax.Node) bool {
		if id, ok := n.(*syntax.Ident); ok {
			f(id)
		}
		return true
	})
}
