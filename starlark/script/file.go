package script

import (
	"bytes"
	"debug/elf"
	"fmt"
	"strings"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/plan"
)

// A file is a parsed file with what is found in it by position.
type file struct {
	name  string
	tree  *syntax.File
	lines []string
	// funcs are the functions by the position that a value has: that of its
	// def or lambda.
	funcs map[place]syntax.Node
	// calls are the calls by the position that a traceback has: that of the
	// parenthesis.
	calls map[place]callSite
}

// A place is a line and column. Positions are compared as numbers: the struct
// of syntax holds a pointer to the file's name.
type place struct{ line, col int32 }

func placeOf(p syntax.Position) place { return place{p.Line, p.Col} }

// A callSite is a call: the name that its value is assigned to, and where it
// begins.
type callSite struct {
	name  string
	begin plan.Pos
}

// parse parses a file and keeps it. The tree is rewritten, not resolved.
func (h *Host) parse(name string, src []byte) (*file, error) {
	return h.parseAs(parseOptions, name, src)
}

func (h *Host) parseAs(options *syntax.FileOptions, name string, src []byte) (*file, error) {
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")) // a byte order mark
	if isProgram(src) {
		return nil, fmt.Errorf("%s is a program, not a script: startrace -c %s traces what it does", name, name)
	}
	if err := checkText(name, string(src)); err != nil {
		return nil, err
	}
	f := &file{name: name, lines: strings.Split(string(src), "\n"),
		funcs: make(map[place]syntax.Node), calls: make(map[place]callSite)}
	tree, err := options.Parse(name, src, 0)
	if err != nil {
		return nil, f.syntaxError(err)
	}
	f.tree = tree
	f.index()
	tree.Stmts = rewriteUpdates(tree.Stmts)
	h.files[name] = f
	return f, nil
}

// isProgram reports whether a file is an ELF file, which would be as many mistakes as it has lines.
func isProgram(src []byte) bool { return bytes.HasPrefix(src, []byte(elf.ELFMAG)) }

// Uses reports whether a file that was loaded has x.name somewhere, or the
// string "name", as getattr takes it.
func (h *Host) Uses(name string) bool {
	return h.has(func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DotExpr:
			return n.Name.Name == name
		case *syntax.Literal:
			return n.Value == name
		}
		return false
	})
}

// Names reports whether a file that was loaded has the word somewhere, as the
// name of a builtin.
func (h *Host) Names(word string) bool {
	return h.has(func(n syntax.Node) bool {
		id, ok := n.(*syntax.Ident)
		return ok && id.Name == word
	})
}

// asks is what builtins.Env.Asks asks.
func (h *Host) asks(variable, attr string) bool {
	return h.has(func(n syntax.Node) bool {
		dot, ok := n.(*syntax.DotExpr)
		if !ok || dot.Name.Name != attr {
			return false
		}
		id, ok := dot.X.(*syntax.Ident)
		return ok && id.Name == variable
	})
}

// has looks through all files that were loaded.
func (h *Host) has(is func(syntax.Node) bool) bool {
	found := false
	for _, f := range h.files {
		syntax.Walk(f.tree, func(n syntax.Node) bool {
			found = found || n != nil && is(n)
			return !found
		})
	}
	return found
}

// callAt is what builtins.Env.CallAt asks.
func (h *Host) callAt(pos plan.Pos) (string, plan.Pos) {
	if f := h.files[pos.Filename()]; f != nil {
		if c, ok := f.calls[placeOf(pos)]; ok {
			return c.name, c.begin
		}
	}
	return "", pos
}

// Line gives a line of a script, counted from 1; "" where there is none.
func (h *Host) Line(name string, n int) string {
	if f := h.files[name]; f != nil && n >= 1 && n <= len(f.lines) {
		return f.lines[n-1]
	}
	return ""
}

// index fills funcs and calls.
func (f *file) index() {
	syntax.Walk(f.tree, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DefStmt:
			f.funcs[placeOf(n.Def)] = n
		case *syntax.LambdaExpr:
			f.funcs[placeOf(n.Lambda)] = n
		case *syntax.CallExpr:
			if _, named := f.calls[placeOf(n.Lparen)]; !named {
				f.calls[placeOf(n.Lparen)] = callSite{"", syntax.Start(n)}
			}
		case *syntax.AssignStmt:
			if n.Op == syntax.EQ {
				f.nameCalls(n.LHS, n.RHS)
			}
		}
		return true
	})
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
			f.calls[placeOf(r.Lparen)] = callSite{id.Name, syntax.Start(r)}
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
