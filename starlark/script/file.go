package script

import (
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/starlark/value"
)

// What is found in the text of a file: functions, calls, flags, its document.

// index fills funcs and calls.
func (f *file) index() {
	syntax.Walk(f.tree, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Literal:
			own(n)
		case *syntax.DefStmt:
			f.funcs[placeOf(n.Def)] = n
		case *syntax.LambdaExpr:
			f.funcs[placeOf(n.Lambda)] = n
		case *syntax.CallExpr:
			if _, named := f.calls[placeOf(n.Lparen)]; !named {
				f.calls[placeOf(n.Lparen)] = callSite{"", syntax.Start(n), firstText(n)}
			}
		case *syntax.AssignStmt:
			if n.Op == syntax.EQ {
				f.nameCalls(n.LHS, n.RHS)
			}
		}
		return true
	})
}

// own makes the text of a literal one that is known to be the script's.
func own(lit *syntax.Literal) {
	if text, ok := lit.Value.(string); ok && (lit.Token == syntax.STRING || lit.Token == syntax.BYTES) {
		lit.Value = string(value.Own(text))
	}
}

// nameCalls notes the names of calls that are assigned: also in pairs, and in
// both branches of a condition.
func (f *file) nameCalls(lhs, rhs syntax.Expr) {
	switch r := rhs.(type) {
	case *syntax.ParenExpr:
		f.nameCalls(lhs, r.X)
	case *syntax.CondExpr:
		f.nameCalls(lhs, r.True)
		f.nameCalls(lhs, r.False)
	case *syntax.TupleExpr:
		if l, ok := lhs.(*syntax.TupleExpr); ok && len(l.List) == len(r.List) {
			for i := range l.List {
				f.nameCalls(l.List[i], r.List[i])
			}
		}
	case *syntax.CallExpr:
		if id, ok := lhs.(*syntax.Ident); ok {
			f.calls[placeOf(r.Lparen)] = callSite{id.Name, syntax.Start(r), firstText(r)}
		}
	}
}

// doc is the text at the top of the file.
func (f *file) doc() string {
	if len(f.tree.Stmts) == 0 {
		return ""
	}
	if e, ok := f.tree.Stmts[0].(*syntax.ExprStmt); ok {
		if s, ok := literalString(e.X); ok {
			return s
		}
	}
	return ""
}

func literalString(e syntax.Expr) (string, bool) {
	l, ok := e.(*syntax.Literal)
	if !ok || l.Token != syntax.STRING {
		return "", false
	}
	s, ok := l.Value.(string)
	return s, ok
}

// flagWords finds the calls of flag() with a constant name.
func (f *file) flagWords() []builtins.FlagWord {
	var out []builtins.FlagWord
	syntax.Walk(f.tree, func(n syntax.Node) bool {
		c, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		if id, ok := c.Fn.(*syntax.Ident); ok && id.Name == "flag" {
			if w, ok := flagWord(c); ok {
				out = append(out, w)
			}
		}
		return true
	})
	return out
}

func flagWord(c *syntax.CallExpr) (builtins.FlagWord, bool) {
	var w builtins.FlagWord
	for i, a := range c.Args {
		key, val := "", a
		if b, ok := a.(*syntax.BinaryExpr); ok && b.Op == syntax.EQ {
			key, val = b.X.(*syntax.Ident).Name, b.Y
		}
		id, _ := val.(*syntax.Ident)
		s, _ := literalString(val)
		switch {
		case key == "name" || key == "" && i == 0:
			w.Name = builtins.FlagName(s)
		case key == "short":
			w.Short = s
		case key == "help" || key == "" && i == 2:
			w.Help = s
		case key == "positional":
			w.Positional = id != nil && id.Name == "True"
		case key == "choices":
			w.Choices = literalStrings(val)
		case key == "default" || key == "" && i == 1:
			w.Switch = w.Switch || id != nil && (id.Name == "True" || id.Name == "False")
		case key == "type":
			w.Switch = id != nil && id.Name == "bool"
			if id != nil {
				w.Type = id.Name
			}
		}
	}
	if w.Type == "" {
		w.Type = "value"
	}
	return w, w.Name != ""
}

// literalStrings are the strings of a tuple or list.
func literalStrings(e syntax.Expr) (out []string) {
	if p, ok := e.(*syntax.ParenExpr); ok {
		e = p.X
	}
	var list []syntax.Expr
	switch e := e.(type) {
	case *syntax.TupleExpr:
		list = e.List
	case *syntax.ListExpr:
		list = e.List
	}
	for _, x := range list {
		if s, ok := literalString(x); ok {
			out = append(out, s)
		}
	}
	return out
}

// A file is a parsed file with what is found in it by position.
type file struct {
	name  string
	tree  *syntax.File
	lines []string
	// funcs are the functions by the position that a value has: that of its
	// def or lambda.
	funcs map[position]syntax.Node
	// calls are the calls by the position that a traceback has: that of the
	// parenthesis.
	calls map[position]callSite
}

// A position is a line and column. Positions are compared as numbers: the struct
// of syntax holds a pointer to the file's name.
type position struct{ line, col int32 }

func placeOf(p syntax.Position) position { return position{p.Line, p.Col} }

// A callSite is a call: the name that its value is assigned to, where it
// begins, and its first argument where that is a text as such.
type callSite struct {
	name  string
	begin plan.Pos
	text  plan.Literal
}

// firstText is the first argument of a call where that is a text as such.
func firstText(call *syntax.CallExpr) plan.Literal {
	if len(call.Args) == 0 {
		return plan.Literal{}
	}
	arg := call.Args[0]
	if named, ok := arg.(*syntax.BinaryExpr); ok && named.Op == syntax.EQ {
		arg = named.Y
	}
	if l, ok := arg.(*syntax.Literal); ok && l.Token == syntax.STRING {
		return plan.Literal{Raw: l.Raw, Pos: l.TokenPos}
	}
	return plan.Literal{}
}
