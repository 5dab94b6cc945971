package diff

import (
	"fmt"
	"slices"
	"strings"
)

// Templates of what only user space can do, filled in.

// shaped is an expression of what only user space can do; nil where there is none of the type.
func (g *gen) shaped(t Type, d int) *Expr {
	list := userExprs[t.Kind]
	if len(list) == 0 || t.Opt {
		return nil
	}
	of := pick(g, list)
	if g.lacksPointers(of) {
		return nil
	}
	s := g.filled(of, d, []Type{plainInt, text, pointer})
	return &Expr{Form: Shape, Type: t, Text: s.text, Args: s.args}
}

// lacksPointers reports whether a template wants a pointer, and there is none.
func (g *gen) lacksPointers(of string) bool {
	_, ok := g.variable(pointer)
	return !ok && !g.event && (strings.Contains(of, "$q") || strings.Contains(of, "$m"))
}

// shapedStmt is a statement of what only user space can do, after which there is a variable.
func (g *gen) shapedStmt() []*Stmt {
	t := pick(g, []Type{plainInt, plainInt, text, floating})
	of := pick(g, userStmts[t.Kind])
	if g.lacksPointers(of) {
		return nil
	}
	other := Type{Kind: Func} // no expression wants one
	s := g.filled(of, exprDepth-1, []Type{other, other, pointer, other})
	g.vars = append(g.vars, variable{s.names[len(s.names)-1], t, false})
	return []*Stmt{{Form: Lines, Exprs: []*Expr{{Form: Shape, Type: Type{Kind: Func}, Text: s.text, Args: s.args}}}}
}

// A template is one that was filled in: hole stands in its text for each of the arguments.
type template struct {
	text  string
	args  []*Expr
	names []string
}

const hole = "$"

// filled fills a template in. Its variables are of the types, as capitals see them.
func (g *gen) filled(of string, d int, types []Type) template {
	var out template
	var inside []variable
	for i := range 4 {
		name := g.name("w")
		if place := fmt.Sprintf("$%d", i); strings.Contains(of, place) {
			of = strings.ReplaceAll(of, place, name)
			out.names = append(out.names, name)
			if i < len(types) {
				inside = append(inside, variable{name, types[i], true})
			}
		}
	}
	for {
		before, rest, found := strings.Cut(of, hole)
		out.text += before
		if !found {
			return out
		}
		kind := rest[:1]
		if lower := strings.ToLower(kind); lower != kind {
			g.knowing(inside, func() { out.args = append(out.args, g.argument(lower, d-1)) })
		} else {
			out.args = append(out.args, g.argument(kind, d-1))
		}
		out.text += hole
		of = rest[1:]
	}
}

// argument is what stands for a letter of a template.
func (g *gen) argument(kind string, d int) *Expr {
	small := func() *Expr { return operator("&", plainInt, g.anyInt(d-1), leaf(plainInt, "7")) }
	switch kind {
	case "i":
		return g.anyInt(d)
	case "n":
		return small()
	case "p":
		return operator("+", plainInt, small(), leaf(plainInt, "1"))
	case "s":
		return g.expr(text, d)
	case "q":
		return g.pointerExpr(d)
	case "m":
		return g.mem()
	case "b":
		return g.expr(boolean, d)
	case "f":
		return g.expr(floating, d)
	}
	return g.expr(pick(g, []Type{plainInt, signed, unsigned, text, boolean, floating}), d)
}

// withoutRounds runs f without the pointers of comprehensions: a function within that reads the fields of one is
// refused.
func (g *gen) withoutRounds(f func()) {
	vars := g.vars
	g.vars = slices.DeleteFunc(slices.Clone(vars), func(v variable) bool {
		return v.t.Kind == Ptr &&
			strings.HasPrefix(v.name, "w")
	})
	f()
	g.vars = vars
}
