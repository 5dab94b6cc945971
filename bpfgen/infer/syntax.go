package infer

import (
	"slices"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/scope"
	"github.com/startrace/startrace/internal/plan"
)

// What the text of a function alone says: where a node stands, which variables it assigns, which names it has.

func unparen(x syntax.Expr) syntax.Expr {
	for {
		p, ok := x.(*syntax.ParenExpr)
		if !ok {
			return x
		}
		x = p.X
	}
}

// start is where a node begins. Its Span would go to its end, too, which is far
// where many stand in each other.
func start(n syntax.Node) plan.Pos {
	for {
		switch x := n.(type) {
		case *syntax.IfStmt:
			return x.If
		case *syntax.ForStmt:
			return x.For
		case *syntax.DefStmt:
			return x.Def
		case *syntax.BinaryExpr:
			n = x.X
		case *syntax.CallExpr:
			n = x.Fn
		case *syntax.DotExpr:
			n = x.X
		case *syntax.IndexExpr:
			n = x.X
		case *syntax.SliceExpr:
			n = x.X
		case *syntax.CondExpr:
			n = x.True
		case *syntax.AssignStmt:
			n = x.LHS
		default:
			p, _ := n.Span()
			return p
		}
	}
}

func elementsOf(x syntax.Expr) []syntax.Expr {
	switch x := unparen(x).(type) {
	case *syntax.TupleExpr:
		return x.List
	case *syntax.ListExpr:
		return x.List
	}
	return nil
}

// argValue is the value of an argument: x, name = x, *x, **x.
func argValue(a syntax.Expr) syntax.Expr {
	switch a := a.(type) {
	case *syntax.BinaryExpr:
		if a.Op == syntax.EQ {
			return a.Y
		}
	case *syntax.UnaryExpr:
		if a.Op == syntax.STAR || a.Op == syntax.STARSTAR {
			return a.X
		}
	}
	return a
}

// namesGiven are the names that a call gives its arguments, "" of those by position.
func namesGiven(x *syntax.CallExpr) []string {
	out := make([]string, len(x.Args))
	for i, a := range x.Args {
		if bin, ok := a.(*syntax.BinaryExpr); ok && bin.Op == syntax.EQ {
			out[i] = bin.X.(*syntax.Ident).Name
		}
	}
	return out
}

// starOf is the star of an argument, 0 where it has none.
func starOf(a syntax.Expr) syntax.Token {
	if un, ok := a.(*syntax.UnaryExpr); ok && (un.Op == syntax.STAR || un.Op == syntax.STARSTAR) {
		return un.Op
	}
	return 0
}

func starred(args []syntax.Expr) bool {
	return slices.ContainsFunc(args, func(a syntax.Expr) bool { return starOf(a) != 0 })
}

// assigned gives the local variables that statements assign.
func assigned(list []syntax.Stmt) []*resolve.Binding {
	var out []*resolve.Binding
	for _, s := range list {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.AssignStmt:
				out = bound(n.LHS, out)
			case *syntax.ForStmt:
				out = bound(n.Vars, out)
			}
			return true
		})
	}
	return out
}

// assignedIn gives the local variables to which statements give values, functions among them.
func assignedIn(list []syntax.Stmt) []*resolve.Binding {
	out := assigned(list)
	for _, s := range list {
		syntax.Walk(s, func(n syntax.Node) bool {
			if def, ok := n.(*syntax.DefStmt); ok {
				out = bound(def.Name, out)
				return false
			}
			return true
		})
	}
	return out
}

// bound adds the variables of an assignment's left side; in x[i] and x.a none
// gets a value.
func bound(x syntax.Expr, out []*resolve.Binding) []*resolve.Binding {
	if id, ok := unparen(x).(*syntax.Ident); ok {
		if bind, ok := id.Binding.(*resolve.Binding); ok {
			return append(out, bind)
		}
	}
	for _, e := range elementsOf(x) {
		out = bound(e, out)
	}
	return out
}

// dotted is x as it stands in the script if it is a name, or fields of one; "" otherwise.
func dotted(x syntax.Expr) string {
	switch x := unparen(x).(type) {
	case *syntax.Ident:
		return x.Name
	case *syntax.DotExpr:
		if of := dotted(x.X); of != "" {
			return of + "." + x.Name.Name
		}
	}
	return ""
}

// branches reports whether statements leave their loop or iteration.
func branches(list []syntax.Stmt) bool {
	found := false
	for _, s := range list {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.BranchStmt:
				found = found || n.Token != syntax.PASS
			case *syntax.ForStmt, *syntax.DefStmt, *syntax.LambdaExpr:
				return false
			}
			return true
		})
	}
	return found
}

func local(x syntax.Expr) (*resolve.Binding, bool) {
	id, ok := unparen(x).(*syntax.Ident)
	if !ok {
		return nil, false
	}
	bind := id.Binding.(*resolve.Binding)
	return bind, bind.Scope == resolve.Local || bind.Scope == resolve.Cell || bind.Scope == resolve.Free
}

func isNoneIdent(x syntax.Expr) bool {
	id, ok := unparen(x).(*syntax.Ident)
	return ok && id.Name == "None"
}

func sortBindings(list []*resolve.Binding) {
	slices.SortFunc(list, func(x, y *resolve.Binding) int {
		p, q := x.First.NamePos, y.First.NamePos
		if d := strings.Compare(p.Filename(), q.Filename()); d != 0 {
			return d
		}
		if p.Line != q.Line {
			return int(p.Line - q.Line)
		}
		return int(p.Col - q.Col)
	})
}

func resolved(fn *plan.Func) *resolve.Function {
	if fn.Def != nil {
		return fn.Def.Function.(*resolve.Function)
	}
	return fn.Lambda.Function.(*resolve.Function)
}

// shifting gives the variables of a function that functions inside it share and whose values change later. A function
// inside sees the value of the moment at which it is called, so any value that such a variable gets may be used.
func shifting(def *resolve.Function) map[*resolve.Binding]bool {
	s := &reassignments{assigned: map[*resolve.Binding]bool{}, shared: map[*resolve.Binding]bool{},
		out: map[*resolve.Binding]bool{}}
	for _, p := range def.Params {
		if un, ok := p.(*syntax.UnaryExpr); !ok || un.X != nil {
			s.assign(scope.ParamName(p), false)
		}
	}
	for _, stmt := range def.Body {
		s.walk(stmt, false)
	}
	return s.out
}

// reassignments are what a walk over a function finds out for shifting.
type reassignments struct {
	// assigned are the variables that got a value so far, shared those that a function inside has by then, and out
	// those that get another value later, which are the result.
	assigned, shared, out map[*resolve.Binding]bool
}

func (s *reassignments) assign(x syntax.Expr, often bool) {
	for _, to := range bound(x, nil) {
		if to.Scope == resolve.Cell && (often || s.assigned[to] || s.shared[to]) {
			s.out[to] = true
		}
		s.assigned[to] = true
	}
}

func (s *reassignments) walk(n syntax.Node, often bool) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.AssignStmt:
			s.assign(n.LHS, often)
		case *syntax.ForStmt:
			s.walk(n.X, often)
			s.assign(n.Vars, true)
			for _, stmt := range n.Body {
				s.walk(stmt, true)
			}
			return false
		case *syntax.ForClause:
			s.assign(n.Vars, true)
		case *syntax.DefStmt:
			s.assign(n.Name, often)
			return s.inside(n.Params, n.Function.(*resolve.Function), often)
		case *syntax.LambdaExpr:
			return s.inside(n.Params, n.Function.(*resolve.Function), often)
		}
		return true
	})
}

// inside notes what a function inside shares; the defaults of its parameters belong to the outer one.
func (s *reassignments) inside(params []syntax.Expr, def *resolve.Function, often bool) bool {
	for _, p := range params {
		if bin, ok := p.(*syntax.BinaryExpr); ok {
			s.walk(bin.Y, often)
		}
	}
	for _, to := range def.FreeVars {
		s.shared[to] = true
	}
	return false
}

// plain reports whether statements only take parts of what they are given: nothing in them can fail or be noticed, but
// for a field that a value of user space has not.
func plain(list []syntax.Stmt) bool {
	ok := true
	for _, s := range list {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.BinaryExpr:
				ok = ok && (n.Op == syntax.EQL || n.Op == syntax.NEQ || n.Op == syntax.AND || n.Op == syntax.OR)
			case *syntax.CallExpr, *syntax.IndexExpr, *syntax.SliceExpr, *syntax.UnaryExpr, *syntax.Comprehension,
				*syntax.ForStmt, *syntax.DictEntry: // a key of a dict may be a list
				ok = false
			case *syntax.AssignStmt:
				_, name := unparen(n.LHS).(*syntax.Ident)
				ok = ok && n.Op == syntax.EQ && name
			}
			return ok
		})
	}
	return ok
}
