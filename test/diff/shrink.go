package diff

import "slices"

// A program that fails is made smaller.

// Shrink makes p smaller, by steps that keep its types, as long as still holds. It changes p.
func Shrink(p *Program, still func(*Program) bool) {
	for again := true; again; {
		again = false
		for i := 0; ; i++ {
			edits := editsOf(p)
			if i >= len(edits) {
				break
			}
			before := len(p.Script())
			undo := edits[i]()
			if len(p.Script()) < before && still(p) {
				again = true
				i-- // the list is a new one
				continue
			}
			undo()
		}
	}
}

// An edit changes a program and gives the way back.
type edit func() (undo func())

// set replaces what is at a place.
func set[T any](at *T, v T) edit {
	return func() func() {
		old := *at
		*at = v
		return func() { *at = old }
	}
}

func editsOf(p *Program) []edit {
	var out []edit
	for i := range p.Helpers {
		out = append(out, set(&p.Helpers, without(p.Helpers, i, i+1)))
	}
	for i := range p.Globals {
		out = append(out, set(&p.Globals, without(p.Globals, i, i+1)))
	}
	functions := append([]*Function{p.Main}, p.Helpers...)
	if p.Begin != nil {
		functions = append(functions, p.Begin)
	}
	for _, f := range functions {
		out = append(out, functionEdits(f)...)
	}
	return out
}

func without[T any](list []T, from, to int) []T {
	return append(append([]T{}, list[:from]...), list[to:]...)
}

func functionEdits(f *Function) []edit { return bodyEdits(&f.Body) }

// bodyEdits leaves out statements, most of them first.
func bodyEdits(list *[]*Stmt) []edit {
	var out []edit
	for n := len(*list); n > 0; n /= 2 {
		for i := 0; i+n <= len(*list); i += n {
			if n == 1 && proves((*list)[i].Exprs) && len((*list)[i].Bodies) == 1 {
				continue // what follows may rest on it
			}
			out = append(out, set(list, without(*list, i, i+n)))
		}
	}
	for i, s := range *list {
		for _, b := range s.Bodies { // a body instead of the whole
			if proves(s.Exprs) {
				break
			}
			all := append(append(append([]*Stmt{}, (*list)[:i]...), b...), (*list)[i+1:]...)
			out = append(out, set(list, all))
		}
		out = append(out, stmtEdits(s)...)
	}
	return out
}

func proves(list []*Expr) bool {
	return slices.ContainsFunc(list, func(e *Expr) bool { return e.Proof })
}

func stmtEdits(s *Stmt) []edit {
	var out []edit
	if s.Form == If && len(s.Bodies) > 1 {
		last := len(s.Bodies) - 1
		out = append(out, func() func() {
			bodies, exprs := s.Bodies, s.Exprs
			s.Bodies, s.Exprs = bodies[:last], exprs[:min(last, len(exprs))]
			return func() { s.Bodies, s.Exprs = bodies, exprs }
		})
	}
	for i := range s.Bodies {
		out = append(out, bodyEdits(&s.Bodies[i])...)
	}
	if s.Func != nil {
		out = append(out, functionEdits(s.Func)...)
	}
	for i := range s.Exprs {
		out = append(out, exprEdits(&s.Exprs[i])...)
	}
	return out
}

// exprEdits replaces an expression by something simple, or by a part of it.
func exprEdits(at **Expr) []edit {
	e := *at
	var out []edit
	if e.Proof {
		return nil
	}
	for _, s := range simplest(e.Type) {
		out = append(out, set(at, s))
	}
	for _, part := range partsOf(e, 3) {
		if part.Type.Equal(e.Type) {
			out = append(out, set(at, part))
		}
	}
	if e.Form == Display && e.Type.Kind != Tuple && len(e.Args) > 1 { // a list of constants
		for i := range e.Args {
			out = append(out, set(&e.Args, without(e.Args, i, i+1)))
		}
	}
	for i := range e.Args {
		out = append(out, exprEdits(&e.Args[i])...)
	}
	return out
}

func partsOf(e *Expr, depth int) []*Expr {
	if depth == 0 || proves(e.Args) {
		return nil
	}
	out := append([]*Expr{}, e.Args...)
	for _, a := range e.Args {
		out = append(out, partsOf(a, depth-1)...)
	}
	return out
}

// simplest are small expressions of a type.
func simplest(t Type) []*Expr {
	if t.Opt {
		return append([]*Expr{leaf(t, "None")}, simplest(t.present())...)
	}
	switch t.Kind {
	case Bool:
		return []*Expr{leaf(t, "True"), leaf(t, "e.args.flag")}
	case Str:
		return []*Expr{leaf(t, `""`), leaf(t, `"a"`), leaf(t, "e.args.s")}
	case Float:
		if t.Class != Narrow {
			return []*Expr{leaf(t, "0.0")}
		}
	case Int:
		switch t.Class {
		case Signed:
			return []*Expr{leaf(t, "e.args.s8"), leaf(t, "e.args.s64")}
		case Unsigned:
			return []*Expr{leaf(t, "e.args.u8"), leaf(t, "e.args.u64")}
		}
		return []*Expr{leaf(t, "0"), leaf(t, "1")}
	}
	return nil
}
