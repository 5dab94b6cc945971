package diff

import "strings"

// Random expressions of each type; a new one of strings is a case of Str.

// expr is an expression of type t; d bounds its depth.
func (g *gen) expr(t Type, d int) *Expr {
	g.nodes--
	if t.Kind == Fault {
		return leaf(t, "FAULT")
	}
	if d <= 0 || g.nodes <= 0 {
		return g.leafOf(t)
	}
	if g.user && g.one(4) {
		if e := g.shaped(t, d); e != nil {
			return e
		}
	}
	if g.one(4) && !(g.user && t.Kind == Ptr) {
		if e := g.general(t, d); e != nil {
			return e
		}
	}
	if t.Opt {
		return g.optional(t, d)
	}
	switch t.Kind {
	case Int:
		return g.integer(t.Class, d)
	case Bool:
		return g.boolean(d)
	case Tuple, Record:
		return g.compose(t, d)
	case Str:
		if g.one(12) {
			return g.extremeText(t, d)
		}
	case Ptr:
		return g.pointerExpr(d)
	case Bytes:
		return g.bytes()
	case Label:
		return g.label(t, d)
	case Float:
		return g.floatExpr(t, d)
	case Stack:
		if g.one(2) {
			return g.condExpr(t, d)
		}
	}
	return g.leafOf(t)
}

// general are the expressions that exist for all types; nil where the one that was drawn does not fit.
func (g *gen) general(t Type, d int) *Expr {
	switch g.r.IntN(8) {
	case 0, 1:
		return g.condExpr(t, d)
	case 2:
		return g.andOr(t, d)
	case 3:
		return g.element(t, d)
	case 4:
		return g.attribute(t, d)
	case 5:
		return g.applyLambda(t, d)
	case 6:
		return g.callFor(t, d)
	}
	return g.lookup(t, d)
}

func (g *gen) condExpr(t Type, d int) *Expr {
	c, known := g.condition(d - 1)
	var x *Expr
	g.knowing(known, func() { x = g.expr(t, d-1) })
	return cond(c, x, g.expr(t, d-1))
}

func (e *Expr) proof() *Expr {
	e.Proof = true
	return e
}

// knowing runs f with variables that are known not to be None.
func (g *gen) knowing(known []variable, f func()) {
	g.scope(func() {
		g.vars = append(g.vars, known...)
		f()
	})
}

// condition is something of which the truth is asked, with what it proves where it is true.
func (g *gen) condition(d int) (*Expr, []variable) {
	if v, ok := g.optionalName(); ok && g.one(3) {
		known := []variable{{v.Text, v.Type.present(), true}}
		if g.one(4) {
			return v.proof(), known
		}
		return operator("!=", boolean, v, none).proof(), known
	}
	switch {
	case g.one(5):
		return g.expr(g.scalarType(), d), nil
	case g.one(8):
		return g.ofTwoKinds(d), nil
	}
	return g.boolean(d), nil
}

// ofTwoKinds is one of two values of which only the truth is asked: they need not be of one type.
func (g *gen) ofTwoKinds(d int) *Expr {
	side := func() *Expr {
		x, _ := g.condition(d - 1)
		if t := g.scalarType(); t.Kind != Label && !g.one(4) { // the truth of a text that user space makes
			x = g.expr(t, d-1)
		}
		if x.Form == Leaf && x.Text[0] == '"' { // a text alone is refused
			return g.boolean(d - 1)
		}
		return x
	}
	if g.one(3) {
		return cond(g.boolean(d-1), side(), side()).as(boolean)
	}
	return operator(pick(g, []string{"and", "or"}), boolean, side(), side()).as(boolean)
}

// optionalName is a variable that may be None.
func (g *gen) optionalName() (*Expr, bool) {
	var fit []variable
	for _, v := range g.vars {
		if v.t.Opt {
			fit = append(fit, v)
		}
	}
	if len(fit) == 0 {
		return nil, false
	}
	v := pick(g, fit)
	return leaf(v.t, v.name), true
}

// andOr is `x and y` or `x or y` as a value.
func (g *gen) andOr(t Type, d int) *Expr {
	if t.Opt || t.Kind == Record || t.Kind == Label { // the truth of a text that user space makes
		return nil
	}
	if v, ok := g.variable(t.opt()); ok && g.one(2) {
		return operator("or", t, v, g.expr(t, d-1))
	}
	return operator(pick(g, []string{"and", "or"}), t, g.expr(t, d-1), g.expr(t, d-1))
}

// element is an element of a tuple.
func (g *gen) element(t Type, d int) *Expr {
	var tuple *Expr
	for _, v := range g.vars {
		if v.t.Kind == Tuple && !v.t.Opt && g.one(2) {
			tuple = leaf(v.t, v.name)
		}
	}
	if tuple != nil {
		for i, et := range tuple.Type.Elems {
			if et.Equal(t) {
				return &Expr{Form: Index, Type: t, Args: []*Expr{tuple, leaf(plainInt, number(int64(i)))}}
			}
		}
	}
	if !g.one(3) {
		return nil
	}
	tuple = g.compose(Type{Kind: Tuple, Elems: []Type{t, g.scalarType()}}, d-1)
	return &Expr{Form: Index, Type: t, Args: []*Expr{tuple, leaf(plainInt, pick(g, []string{"0", "(-2)"}))}}
}

// attribute is a field of a record.
func (g *gen) attribute(t Type, d int) *Expr {
	for _, v := range g.vars {
		if v.t.Kind != Record || v.t.Opt {
			continue
		}
		for i, et := range v.t.Elems {
			if et.Equal(t) {
				return &Expr{Form: Attr, Type: t, Text: v.t.Names[i], Args: []*Expr{leaf(v.t, v.name)}}
			}
		}
	}
	if t.Opt || t.Kind > Str || t.Kind == Int && t.Class == Plain || g.p.Span {
		return nil
	}
	field := g.leafOf(t) // getattr(e.args, "u8", default)
	name, ok := strings.CutPrefix(field.Text, "e.args.")
	if field.Form != Leaf || !ok || strings.ContainsAny(name, ".[") {
		return nil
	}
	args := []*Expr{leaf(Type{}, "e.args"), leaf(text, `"`+name+`"`)}
	if g.one(2) {
		args = append(args, g.literal(t))
	}
	return call(t, "getattr", args...)
}

// applyLambda calls a function on the spot.
func (g *gen) applyLambda(t Type, d int) *Expr {
	e := &Expr{Form: Apply, Type: t, Args: []*Expr{nil}}
	fn := &Expr{Form: Lambda}
	var params []variable
	for range g.r.IntN(3) {
		p := variable{g.name("l"), g.scalarType(), true}
		params = append(params, p)
		fn.Names = append(fn.Names, p.name)
		e.Args = append(e.Args, g.expr(p.t, d-2))
	}
	g.withoutRounds(func() { g.knowing(params, func() { fn.Args = []*Expr{g.expr(t, d-1)} }) })
	e.Args[0] = fn
	return e
}

// callFor calls a function that gives t.
func (g *gen) callFor(t Type, d int) *Expr {
	var fit []callable
	for _, f := range g.fns {
		if f.fn.Result.Equal(t) && (!f.event || g.event) && (g.event || !hasParam(f.fn, pointer)) &&
			g.takes(f.fn) {
			fit = append(fit, f)
		}
	}
	if len(fit) == 0 || g.calls < g.times {
		return nil
	}
	g.calls -= g.times
	return g.calledSomehow(pick(g, fit), d)
}

// callOf calls f, some arguments by name, some left to their defaults.
func (g *gen) callOf(f callable, d int) *Expr {
	e := &Expr{Form: Call, Type: f.fn.Result, Text: f.fn.Name}
	named := false
	for i, p := range f.fn.Params {
		if i == 0 && f.event {
			e.Args, e.Names = append(e.Args, leaf(Type{}, "e")), append(e.Names, "")
			continue
		}
		hasDefault := i >= len(f.fn.Params)-len(f.fn.Defaults)
		if hasDefault && g.one(2) {
			named = true
			continue
		}
		named = named || g.one(4)
		e.Args, e.Names = append(e.Args, g.expr(p.Type, d-2)), append(e.Names, "")
		if named {
			e.Names[len(e.Names)-1] = p.Name
		}
	}
	return e
}

// calledSomehow is callOf, in one of the ways to call a function.
func (g *gen) calledSomehow(f callable, d int) *Expr {
	e := g.callOf(f, d)
	if g.one(3) {
		return g.otherwise(e)
	}
	return e
}

// lookup reads a table, a cell or a constant list or dict.
func (g *gen) lookup(t Type, d int) *Expr {
	for _, c := range g.cells {
		if c.val.Equal(t) {
			return method(t, leaf(Type{}, c.name), "get")
		}
	}
	for _, l := range g.lists {
		if l.t.Equal(t) && g.one(2) {
			return &Expr{Form: Index, Type: t, Args: []*Expr{leaf(Type{}, l.name),
				leaf(plainInt, number(int64(g.r.IntN(2*l.n)-l.n)))}}
		}
	}
	for _, c := range g.dicts {
		if c.val.Equal(t.present()) {
			args := []*Expr{g.expr(c.key, d-1)}
			if !t.Opt {
				args = append(args, g.expr(c.val, d-1))
			}
			return method(t, leaf(Type{}, c.name), "get", args...)
		}
	}
	for _, c := range g.usable() {
		if !c.val.Equal(t.present()) {
			continue
		}
		recv, key := leaf(Type{}, c.name), g.keyExpr(c.key, d-2)
		op := pick(g, []string{"get", "get", "pop"})
		switch {
		case t.Opt:
			return method(t, recv, op, key)
		case g.one(5):
			return &Expr{Form: Index, Type: t, Args: []*Expr{recv, key}}
		}
		return method(t, recv, op, key, g.expr(c.val, d-1))
	}
	return nil
}

// optional is a value or None.
func (g *gen) optional(t Type, d int) *Expr {
	if e := g.lookup(t, d); e != nil && g.one(2) {
		return e
	}
	c, known := g.condition(d - 1)
	var x *Expr
	g.knowing(known, func() { x = g.expr(t.present(), d-1) })
	if known == nil && g.one(3) {
		return cond(c, none, x).as(t)
	}
	return cond(c, x, none).as(t)
}

// as is a condition with the type that its None side does not show.
func (e *Expr) as(t Type) *Expr {
	e.Type, e.Wrap = t, exact
	return e
}
