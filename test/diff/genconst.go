package diff

import "fmt"

// Random constants, closures and labels (`labels`).

// A list is a constant list.
type list struct {
	name string
	t    Type
	n    int
}

// list declares a constant list.
func (g *gen) list() {
	l := list{g.global("L"), pick(g, []Type{plainInt, text, boolean, floating}), 1 + g.r.IntN(4)}
	s := "["
	for range l.n {
		s += g.literal(l.t).Text + ", "
	}
	g.lists = append(g.lists, l)
	g.declareGlobal(l.name, s+"]")
}

// constantRecord declares one as a variable.
func (g *gen) constantRecord() {
	t := Type{Kind: Record, Names: []string{"f0", "f1"}, Elems: []Type{plainInt, text}}
	n := g.global("R")
	g.declareGlobal(n, fmt.Sprintf("record(f0 = %s, f1 = %s)", g.literal(plainInt).Text, g.literal(text).Text))
	g.vars = append(g.vars, variable{n, t, true})
}

// closures makes a list of functions in a loop at the top of the script: one lambda that is several functions.
func (g *gen) closures() {
	mk := &Function{Name: g.global("mk"), Params: []Param{{g.name("p"), plainInt}, {g.name("p"), text}}}
	x := Param{g.name("l"), signed}
	p, s := leaf(plainInt, mk.Params[0].Name), leaf(text, mk.Params[1].Name)
	sum := arith(pick(g, []string{"+", "-", "*", "|"}), leaf(signed, x.Name), p)
	test := operator(pick(g, orderings), boolean, s, g.literal(text))
	fn := &Expr{Form: Lambda, Names: []string{x.Name}, Args: []*Expr{cond(test, sum, leaf(signed, x.Name))}}
	mk.Body = []*Stmt{{Form: Return, Exprs: []*Expr{fn}}}
	g.p.Helpers = append(g.p.Helpers, mk)
	all := g.global("F")
	g.p.After = append(g.p.After, fmt.Sprintf("%s = [%s(i, s) for i, s in [(1, %s), (%s, %s)]]", all, mk.Name,
		g.literal(text).Text, g.literal(plainInt).Text, g.literal(text).Text))
	for i := range 2 {
		one := &Function{Name: fmt.Sprintf("%s[%d]", all, i), Params: []Param{x}, Result: signed}
		g.fns = append(g.fns, callable{one, false})
	}
}

// lambdaStmt gives a name to a function without a name.
func (g *gen) lambdaStmt(fn *Function) []*Stmt {
	e := &Expr{Form: Lambda}
	var params []variable
	for _, p := range fn.Params {
		e.Names = append(e.Names, p.Name)
		params = append(params, variable{p.Name, p.Type, true})
	}
	g.knowing(params, func() { e.Args = []*Expr{g.expr(fn.Result, exprDepth-1)} })
	g.fns = append(g.fns, callable{fn, false})
	return []*Stmt{{Form: Assign, Target: fn.Name, Exprs: []*Expr{e}}}
}

// spanKey makes the function for the keys of a span. Its values are few, so that starts meet ends.
func (g *gen) spanKey() {
	fn := &Function{Name: g.global("key"), Params: []Param{{Name: "e"}},
		Result: pick(g, []Type{boolean, text, signed, floating, narrow})}
	fns := g.fns
	g.fns, g.key, g.event = nil, true, true // functions may use e.start
	g.function(fn, g.r.IntN(2))
	g.fns, g.key, g.event = fns, false, false
	if fn.Result.Kind == Int {
		last := fn.Body[len(fn.Body)-1]
		last.Exprs[0] = arith("&", last.Exprs[0], leaf(plainInt, "3"))
	}
	g.p.Key = fn
}

var labels = []string{"errno", "signal", "syscall_name", "inet", "ksym", "dev_name", "names", "strftime"}

// further are the arguments of labels that have some besides the number.
var further = map[string]string{"names": `"O_"`, "strftime": `"%H:%M:%S"`}

func (g *gen) labelType() Type {
	if g.user {
		return text
	}
	return Type{Kind: Label, Names: []string{pick(g, labels)}}
}

// label is an int that reads as text.
func (g *gen) label(t Type, d int) *Expr {
	x := g.expr(pick(g, []Type{signed, unsigned}), d-1)
	if g.one(2) {
		x = leaf(plainInt, pick(g, []string{"1", "2", "13", "(-110)"}))
	}
	of := call(t, t.Names[0], x)
	if more, ok := further[t.Names[0]]; ok {
		of.Args = append(of.Args, leaf(text, more))
	}
	if t.Names[0] == "strftime" {
		of.Args[0], of.Args[1] = of.Args[1], of.Args[0]
	}
	return of
}
