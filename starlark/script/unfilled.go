package script

import (
	"fmt"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"
)

// The warning about a table that never gets an entry, as by t[k] = t[k] + 1 alone.
//
// A table whose only assignments are as t[k] = t[k] + 1 never gets an entry: the first one reads what is not there,
// which ends the handler. The author wants t[k] += 1, which begins at 0.

// warnUnfilled warns about tables that never get an entry.
func (h *Host) warnUnfilled(f *file) {
	if h.opts.Warn == nil {
		return
	}
	for _, at := range f.unfilled() {
		name := at.X.(*syntax.Ident)
		h.opts.Warn(name.NamePos,
			fmt.Sprintf("%[1]s never gets an entry: %[1]s[KEY] of one that is missing ends the handler; "+
				"%[1]s[KEY] += 1 begins at 0, and %[1]s.get(KEY, 0) gives 0", name.Name))
	}
}

// unfilled finds such tables, of which a file says all that is done with them: their first such assignments.
func (f *file) unfilled() (out []*syntax.IndexExpr) {
	u := &tableUses{fills: map[*syntax.Ident]*syntax.IndexExpr{}, other: map[*syntax.Ident]bool{},
		seen: map[*syntax.Ident]bool{}}
	syntax.Walk(f.tree, u.visit)
	for _, table := range u.tables {
		if at := u.fills[table]; at != nil && !u.other[table] {
			out = append(out, at)
		}
	}
	return out
}

// tableUses is what a file does with its tables, by where they are declared.
type tableUses struct {
	tables []*syntax.Ident
	fills  map[*syntax.Ident]*syntax.IndexExpr // the first assignment that reads the table
	other  map[*syntax.Ident]bool              // something else is done that can fill them
	seen   map[*syntax.Ident]bool              // uses that were looked at as a part of something
}

// declared is where the variable of id is declared, nil for another expression.
func declared(x syntax.Expr) *syntax.Ident {
	id, ok := x.(*syntax.Ident)
	if !ok {
		return nil
	}
	b := bindingOf(id)
	if b == nil {
		return nil
	}
	return b.First
}

func (u *tableUses) visit(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.AssignStmt:
		u.assign(n)
	case *syntax.IndexExpr:
		u.reads(n.X)
	case *syntax.DotExpr:
		switch n.Name.Name {
		case "get", "pop", "remove", "clear", "keys", "values", "items":
			u.reads(n.X)
		}
	case *syntax.BinaryExpr:
		if n.Op == syntax.IN || n.Op == syntax.NOT_IN {
			u.reads(n.Y)
		}
	case *syntax.ForStmt:
		u.reads(n.X)
	case *syntax.ForClause:
		u.reads(n.X)
	case *syntax.CallExpr:
		u.call(n)
	case *syntax.Ident:
		if at := declared(n); at != nil && !u.seen[n] {
			u.other[at] = true
		}
	}
	return true
}

// reads notes that x is only read where it stands.
func (u *tableUses) reads(x syntax.Expr) {
	if id, ok := x.(*syntax.Ident); ok {
		u.seen[id] = true
	}
}

func (u *tableUses) assign(s *syntax.AssignStmt) {
	if at := declared(s.LHS); at != nil && at == s.LHS && isTable(s.RHS) {
		u.reads(at)
		u.tables = append(u.tables, at)
		return
	}
	x, ok := s.LHS.(*syntax.IndexExpr)
	if !ok {
		return
	}
	at := declared(x.X)
	element := func(n syntax.Node) bool {
		x, ok := n.(*syntax.IndexExpr)
		return ok && declared(x.X) == at
	}
	switch {
	case at == nil:
	case !surely(s.RHS, element):
		u.other[at] = true
	case u.fills[at] == nil:
		u.fills[at] = x
	}
}

// call is about builtins that look at a table.
func (u *tableUses) call(x *syntax.CallExpr) {
	switch builtinName(x.Fn) {
	case "len", "print", "show", "sorted", "list", "dict":
		for _, a := range x.Args {
			u.reads(a)
		}
	}
}

func isTable(x syntax.Expr) bool {
	call, ok := x.(*syntax.CallExpr)
	return ok && builtinName(call.Fn) == "table"
}

// builtinName is the name of a builtin that no declaration hides.
func builtinName(x syntax.Expr) string {
	id, ok := x.(*syntax.Ident)
	if !ok {
		return ""
	}
	if b := bindingOf(id); b == nil || b.Scope != resolve.Predeclared && b.Scope != resolve.Universal {
		return ""
	}
	return id.Name
}
