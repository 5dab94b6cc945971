package script

import (
	"go.starlark.net/resolve"
	"go.starlark.net/syntax"
)

// The mistake of a name that a function reads before it assigns it.
//
// A function that assigns a name has its own of that name. Where each assignment first reads it, as n += 1 does, there
// is never a value, and the interpreter would say so when the function runs for the first time: in a handler at the
// first event, when everything is attached.

// unassigned finds such names.
func (f *file) unassigned() (out Errors) {
	syntax.Walk(f.tree, func(n syntax.Node) bool {
		if def, ok := n.(*syntax.DefStmt); ok { // a lambda assigns nothing
			out = append(out, neverAssigned(def.Function, def.Body)...)
		}
		return true
	})
	return out
}

func neverAssigned(function any, body []syntax.Stmt) (out Errors) {
	def, ok := function.(*resolve.Function)
	if !ok {
		return nil
	}
	reads := map[*resolve.Binding]*syntax.Ident{} // the first assignment that reads, nil: there is another
	for _, p := range def.Params {
		if id := paramName(p); id != nil {
			reads[bindingOf(id)] = nil
		}
	}
	for _, s := range body {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.AssignStmt:
				noteAssignment(reads, n)
			case *syntax.ForStmt:
				each(n.Vars, func(id *syntax.Ident) { reads[bindingOf(id)] = nil })
			case *syntax.DefStmt:
				reads[bindingOf(n.Name)] = nil
				return false
			case *syntax.LambdaExpr:
				return false
			}
			return true
		})
	}
	for _, b := range def.Locals {
		if id := reads[b]; id != nil {
			out = append(out, &Error{Pos: id.NamePos, Msg: id.Name + " has no value yet: a function that assigns " +
				id.Name +
				" has its own, also where the top level has one; keep what changes in a cell: " + id.Name +
				" = cell(0), " + id.Name + ".add(1)"})
		}
	}
	return out
}

// noteAssignment notes an assignment.
func noteAssignment(reads map[*resolve.Binding]*syntax.Ident, s *syntax.AssignStmt) {
	id, one := s.LHS.(*syntax.Ident)
	if !one {
		each(s.LHS, func(id *syntax.Ident) { reads[bindingOf(id)] = nil })
		return
	}
	b := bindingOf(id)
	if s.Op == syntax.EQ && !mentions(s.RHS, b) {
		reads[b] = nil
		return
	}
	if _, known := reads[b]; !known {
		reads[b] = id
	}
}

// mentions reports whether evaluating x reads a variable.
func mentions(x syntax.Expr, b *resolve.Binding) bool {
	return b != nil && surely(x, func(n syntax.Node) bool {
		id, ok := n.(*syntax.Ident)
		return ok && bindingOf(id) == b
	})
}

// surely reports whether x has a part that is evaluated whenever x is.
func surely(x syntax.Expr, part func(syntax.Node) bool) (found bool) {
	syntax.Walk(x, func(n syntax.Node) bool {
		found = found || n != nil && part(n)
		switch n := n.(type) {
		case *syntax.LambdaExpr, *syntax.Comprehension, *syntax.CondExpr:
			return false // perhaps later, or not at all
		case *syntax.BinaryExpr:
			return n.Op != syntax.AND && n.Op != syntax.OR
		}
		return true
	})
	return found
}

func bindingOf(id *syntax.Ident) *resolve.Binding {
	b, _ := id.Binding.(*resolve.Binding)
	return b
}

// each calls f for the names that an assignment or a loop gives values.
func each(x syntax.Expr, f func(*syntax.Ident)) {
	switch x := x.(type) {
	case *syntax.Ident:
		f(x)
	case *syntax.ParenExpr:
		each(x.X, f)
	case *syntax.TupleExpr:
		for _, e := range x.List {
			each(e, f)
		}
	case *syntax.ListExpr:
		for _, e := range x.List {
			each(e, f)
		}
	}
}

func paramName(p syntax.Expr) *syntax.Ident {
	switch p := p.(type) {
	case *syntax.Ident:
		return p
	case *syntax.BinaryExpr:
		id, _ := p.X.(*syntax.Ident)
		return id
	case *syntax.UnaryExpr:
		id, _ := p.X.(*syntax.Ident)
		return id
	}
	return nil
}
