package diff

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Generate, the program of a seed: globals, helpers, the main function.

// gen makes one program.
type gen struct {
	// r decides everything, and is seeded.
	r *rand.Rand
	// p is the program.
	p *Program
	// vars are the variables in reach.
	vars []variable
	own  int // the first of vars that the current function may assign
	// fns are the functions in reach, tables, dicts, aggs, cells and lists what else the program has at its top.
	fns    []callable
	tables []table
	dicts  []dict
	// result is the type of what the current function returns.
	result Type
	// nodes and calls bound the size: calls are written out in the kernel's code, and so are loops.
	nodes, calls, times int
	// names is how many names have been given, so that each is new.
	names     int
	event     bool            // e is in reach
	loop      bool            // the statement is in a loop of the function
	starting  bool            // the function is that of a start
	key       bool            // the function gives the key of a span
	tested    map[string]bool // pointers that may be known to be None
	user      bool            // for user space, which has floats
	noneFirst bool            // where None stands in keys
	aggs      []aggregation
	cells     []cell
	lists     []list
}

// A variable is a name in reach. A name that is known not to be None stands here twice.
type variable struct {
	name  string
	t     Type
	fixed bool // must not be assigned
}

// A callable is a function in reach.
type callable struct {
	fn    *Function
	event bool // takes e first
}

// A dict is a constant dict.
type dict struct {
	name     string
	key, val Type
}

// Generate makes the program of a seed. Its names begin with name.
func Generate(seed uint64, name string) *Program { return generate(seed, &Program{Name: name}) }

// GenerateAt makes one that runs at a site.
func GenerateAt(seed uint64, name string, site *Site) *Program {
	return generate(seed, &Program{Name: name, Site: site})
}

// GenerateUser makes one for user space, where there are floats and no spans.
func GenerateUser(seed uint64, name string) *Program {
	return generate(seed, &Program{Name: name, User: true})
}

func generate(seed uint64, p *Program) *Program {
	g := &gen{user: p.User, tested: map[string]bool{}, r: rand.New(rand.NewPCG(seed, 0x5eed)), p: p, nodes: 40,
		times: 1}
	g.nodes += g.r.IntN(160)
	g.calls, g.noneFirst = g.r.IntN(12), g.one(2)
	g.p.Span = !p.User && p.Site == nil && g.one(8)
	g.globals()
	for range g.r.IntN(4) {
		g.helper()
	}
	if g.one(8) {
		g.closures()
	}
	if g.p.Span && g.one(2) {
		g.spanKey()
	}
	g.main()
	if p.Site != nil && p.Site.Start != nil && g.one(2) {
		g.begin()
	}
	return g.p
}

// begin makes the handler of the start. It calls no helper: the line of an error then tells who made it.
func (g *gen) begin() {
	fn := &Function{Name: g.p.Name + "_begin", Params: []Param{{Name: "e"}}, Result: g.resultType()}
	g.fns, g.starting, g.event, g.nodes = nil, true, true, 30
	g.function(fn, 1+g.r.IntN(4))
	fn.Body = append(g.fill(), fn.Body...)
	g.p.Begin, g.p.BeginName = fn, fn.Name
}

func (g *gen) one(n int) bool { return g.r.IntN(n) == 0 }

func pick[T any](g *gen, list []T) T { return list[g.r.IntN(len(list))] }

func (g *gen) name(prefix string) string {
	g.names++
	return fmt.Sprintf("%s%d", prefix, g.names)
}

func (g *gen) global(prefix string) string { return g.p.Name + "_" + g.name(prefix) }

// globals declares constants, dicts and tables.
func (g *gen) globals() {
	for range g.r.IntN(3) {
		n, x := g.global("K"), g.literal(pick(g, []Type{plainInt, plainInt, text, boolean}))
		if g.one(6) {
			x = g.constantFloat()
		}
		g.p.Globals = append(g.p.Globals, n+" = "+x.Text)
		g.vars = append(g.vars, variable{n, x.Type, true})
	}
	if g.one(4) {
		g.dict()
	}
	if g.one(4) {
		g.list()
	}
	if g.one(8) {
		g.constantRecord()
	}
	if g.one(2) {
		g.state()
	}
	g.own = len(g.vars)
}

func (g *gen) dict() {
	d := dict{g.global("D"), pick(g, []Type{plainInt, text, floating}),
		pick(g, []Type{plainInt, text, boolean, floating})}
	s := d.name + " = {"
	seen := map[string]bool{}
	for range 1 + g.r.IntN(4) {
		k := g.literal(d.key).Text
		if !seen[k] && !strings.Contains(k, "strip") { // which would be one that is there
			s += k + ": " + g.literal(d.val).Text + ", "
		}
		seen[k] = true
	}
	g.dicts = append(g.dicts, d)
	g.p.Globals = append(g.p.Globals, s+"}")
}

// scalarType is the type of a parameter or a variable.
func (g *gen) scalarType() Type {
	t := pick(g, []Type{plainInt, signed, signed, signed, unsigned, unsigned, boolean, text})
	if g.one(8) {
		t = pick(g, g.floats())
	}
	if g.stacksThere() && g.one(6) {
		t = stack
	}
	if g.one(6) {
		t.Opt = true
	}
	return t
}

// valueType may also be a tuple or a record.
func (g *gen) valueType() Type {
	if !g.one(5) {
		return g.scalarType()
	}
	t := Type{Kind: Tuple}
	for range 1 + g.r.IntN(3) {
		t.Elems = append(t.Elems, g.scalarType())
	}
	if g.one(2) {
		t.Kind = Record
		for i := range t.Elems {
			t.Names = append(t.Names, fmt.Sprintf("f%d", i))
		}
	}
	return t
}

// resultType is what is sent: it may hold labels.
func (g *gen) resultType() Type {
	t := g.valueType()
	if g.one(16) { // more than registers hold
		t = Type{Kind: Record}
		for i := range 11 + g.r.IntN(6) {
			t.Elems, t.Names = append(t.Elems, g.scalarType()), append(t.Names, fmt.Sprintf("f%d", i))
		}
	}
	for i := range t.Elems {
		switch {
		case g.one(6):
			t.Elems[i] = g.labelType()
		case g.one(16):
			t.Elems[i] = octets
		}
	}
	return t
}

// scope runs f and forgets the names that it made.
func (g *gen) scope(f func()) {
	vars, fns := len(g.vars), len(g.fns)
	f()
	g.vars, g.fns = g.vars[:vars], g.fns[:fns]
}

// function makes the parameters and the body of a function.
func (g *gen) function(fn *Function, stmts int) {
	own, result, event, loop := g.own, g.result, g.event, g.loop
	defer func() { g.own, g.result, g.event, g.loop = own, result, event, loop }()
	g.loop = false
	g.scope(func() {
		g.own, g.result = len(g.vars), fn.Result
		for _, p := range fn.Params {
			if p.Name == "e" {
				g.event = true
				continue
			}
			g.vars = append(g.vars, variable{p.Name, p.Type, false})
		}
		fn.Body = g.body(stmts)
		if g.result.Opt && g.one(3) {
			return
		}
		fn.Body = append(fn.Body, g.returnStmt())
	})
}

// signature makes parameters, with defaults for some.
func (g *gen) signature(fn *Function) {
	fn.Result = g.valueType()
	for range g.r.IntN(4) {
		p := Param{g.name("p"), g.scalarType()}
		if g.one(8) && g.nodesThere() {
			p.Type = pointer
		}
		if len(fn.Defaults) > 0 || g.one(4) {
			p.Type = pick(g, []Type{plainInt, text, boolean, floating})
			fn.Defaults = append(fn.Defaults, g.literal(p.Type))
		}
		fn.Params = append(fn.Params, p)
	}
}

func (g *gen) helper() {
	fn, event := &Function{Name: g.global("h")}, g.event
	g.event = g.one(2)
	g.signature(fn)
	takesEvent := g.event || g.stacksThere() || !hasParam(fn, signed) || !hasParam(fn, unsigned)
	if takesEvent {
		fn.Params = append([]Param{{Name: "e"}}, fn.Params...)
	}
	nodes := g.nodes
	g.event = false
	defer func() { g.event = event }()
	g.nodes = 10 + g.r.IntN(20)
	g.function(fn, 1+g.r.IntN(3))
	g.nodes = nodes
	g.p.Helpers = append(g.p.Helpers, fn)
	g.fns = append(g.fns, callable{fn, takesEvent})
}

func hasParam(fn *Function, t Type) bool {
	return slices.ContainsFunc(fn.Params, func(p Param) bool { return p.Type.Equal(t) })
}

func (g *gen) main() {
	fn := &Function{Name: g.p.Name, Params: []Param{{Name: "e"}}, Result: g.resultType()}
	twice := g.calledTwice()
	if twice != nil && !g.one(2) {
		twice = nil
	}
	if twice != nil {
		fn.Result = Type{Kind: Tuple, Elems: []Type{twice.fn.Result, twice.fn.Result}}
	}
	g.event = true
	g.function(fn, 2+g.r.IntN(7))
	fn.Body = append(g.fill(), fn.Body...)
	if twice != nil {
		g.returnTwice(fn, *twice)
	}
	g.p.Main = fn
}

// calledTwice is a helper whose result can be part of a tuple.
func (g *gen) calledTwice() *callable {
	for _, f := range g.fns {
		if f.fn.Result.Kind <= Str && len(f.fn.Params) > len(f.fn.Defaults) {
			return &f
		}
	}
	return nil
}

// returnTwice makes fn end with the values of two calls of a function, with different parts of the event: each call has
// its own.
func (g *gen) returnTwice(fn *Function, f callable) {
	g.event, g.nodes = true, 10
	defer func() { g.event = false }()
	pair := &Expr{Form: Display, Type: fn.Result}
	for i := range 2 {
		x := g.callOf(f, 2)
		for j, p := range f.fn.Params[:len(x.Args)] {
			if part := g.part(p.Type, i); part != nil && x.Names[j] == "" {
				x.Args[j] = part
			}
		}
		pair.Args = append(pair.Args, x)
	}
	if n := len(fn.Body); n > 0 && fn.Body[n-1].Form == Return {
		fn.Body = fn.Body[:n-1]
	}
	fn.Body = append(fn.Body, &Stmt{Form: Return, Exprs: []*Expr{pair}})
}

// part is the first or the second part of the event of a type; nil if there is none.
func (g *gen) part(t Type, i int) *Expr {
	fields := g.fields(t)
	if len(fields) == 0 {
		return nil
	}
	return leaf(t, fields[i*(len(fields)-1)].path())
}
