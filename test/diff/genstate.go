package diff

import (
	"fmt"
	"slices"
	"strings"
)

// Random tables, cells and aggregations (`aggregations`, `aggKinds`).

// A table is a container of the program.
type table struct {
	name     string
	key, val Type
}

// A cell is one value.
type cell struct {
	name string
	val  Type
}

// An aggregation is one, or a group of some.
type aggregation struct {
	name    string
	kind    string
	key     Type
	keyed   bool
	members []string // the kinds of a group's members, which are their names, too
}

var keyTypes = []Type{
	signed, unsigned, text, boolean,
	{Kind: Tuple, Elems: []Type{unsigned, text}}, {Kind: Tuple, Elems: []Type{signed, signed}},
	floating, narrow, {Kind: Tuple, Elems: []Type{unsigned, floating}}, {Kind: Tuple, Elems: []Type{narrow, text}},
	{Kind: Tuple, Elems: []Type{unsigned, {Kind: Fault}}}, {Kind: Fault}, {Kind: Record},
	{Kind: Tuple, Elems: []Type{{Kind: Tuple}, {Kind: Record}}},
}

// aggregations are the kinds with how they are made.
var aggregations = map[string]string{
	"count": "count()", "total": "total()", "mean": "mean()", "lowest": "lowest()", "highest": "highest()",
	"stats": "stats()",
	"hist":  "hist()", "fine": "hist(sub = 2)", "usec": "hist(unit = USEC)", "lhist": "lhist(-100, 1000, 50)",
	"quantiles": "quantiles()",
}

var aggKinds = []string{"count", "total", "mean", "lowest", "highest", "stats", "hist", "fine", "usec", "lhist",
	"quantiles"}

// state declares containers.
func (g *gen) state() {
	switch g.r.IntN(6) {
	case 0, 1, 2:
		g.table()
	case 3:
		g.cell()
	default:
		g.aggregation()
	}
	if g.one(3) {
		g.state()
	}
}

func (g *gen) declareGlobal(name, value string) { g.p.Globals = append(g.p.Globals, name+" = "+value) }

func (g *gen) table() {
	t := table{g.global("T"), g.keyType(),
		g.stackOr(pick(g, []Type{signed, signed, signed, signed, signed, signed, unsigned, text, boolean,
			{Kind: Tuple, Elems: []Type{signed, boolean}}, floating, narrow,
			{Kind: Tuple, Elems: []Type{floating, signed.opt()}}, g.labelType()}))}
	g.tables = append(g.tables, t)
	g.declareGlobal(t.name, "table(size = 512)")
}

// keyType is the type of a table's keys: an element of a tuple may be None.
func (g *gen) keyType() Type {
	if g.one(6) {
		return Type{Kind: Tuple, Elems: []Type{pick(g, keyTypes[:4]), signed.opt()}}
	}
	return g.stackOr(pick(g, keyTypes))
}

// stackOr is a stack, or t.
func (g *gen) stackOr(t Type) Type {
	switch {
	case !g.stacksThere():
		return t
	case g.one(4):
		return stack
	case g.one(4):
		return Type{Kind: Tuple, Elems: []Type{stack, signed}}
	}
	return t
}

func (g *gen) cell() {
	c := cell{g.global("C"), pick(g, []Type{signed, signed, boolean, text, floating})}
	g.cells = append(g.cells, c)
	g.declareGlobal(c.name, "cell("+g.literal(c.val).Text+")")
}

func (g *gen) aggregation() {
	a := aggregation{name: g.global("A"), kind: pick(g, aggKinds), keyed: g.one(2), key: g.stackOr(pick(g, keyTypes))}
	if a.keyed && g.one(4) && !g.user {
		a.key = g.labelType()
	}
	made := aggregations[a.kind]
	if g.one(4) {
		a.kind, made = "group", "group("
		for range 2 + g.r.IntN(3) {
			m := pick(g, aggKinds)
			if !slices.Contains(a.members, m) {
				a.members = append(a.members, m)
				made += m + " = " + aggregations[m] + ","
			}
		}
		made = strings.TrimSuffix(made, ",") + ")"
	}
	if a.keyed { // less memory than the default takes, which is made anew for each unit
		made = strings.Replace(strings.TrimSuffix(made, ")")+", size = 512)", "(, ", "(", 1)
	}
	g.aggs = append(g.aggs, a)
	g.declareGlobal(a.name, made)
}

// keyExpr is a key. The element that may be None is so when the program runs: one that is None when it is compiled
// makes a key of another type.
func (g *gen) keyExpr(t Type, d int) *Expr {
	if t.Kind != Tuple || !t.Elems[1].Opt {
		return g.expr(t, d)
	}
	sometimes := leaf(t.Elems[1], g.sometimes()).proof()
	return &Expr{Form: Display, Type: t, Args: []*Expr{g.expr(t.Elems[0], d), sometimes}}
}

// usable are the tables whose keys can be made here.
func (g *gen) usable() (out []table) {
	for _, t := range g.tables {
		if g.makes(t.key) && g.makes(t.val) && (g.event || t.key.Kind != Tuple || !t.key.Elems[1].Opt) {
			out = append(out, t)
		}
	}
	return out
}

// usableAggregations are those whose keys can be made here.
func (g *gen) usableAggregations() []aggregation {
	return slices.DeleteFunc(slices.Clone(g.aggs), func(a aggregation) bool { return a.keyed && !g.makes(a.key) })
}

// fill is what the main function begins with, so that the compiler knows what the tables hold. What stands here is done
// for each input: behind an early return it would be for few.
func (g *gen) fill() (out []*Stmt) {
	g.event = true
	defer func() { g.event = false }()
	for _, t := range g.tables {
		out = append(out, &Stmt{Form: SetItem, Target: t.name, Exprs: []*Expr{g.keyExpr(t.key, 0), g.leafOf(t.val)}})
	}
	if g.hasState() {
		g.nodes = max(g.nodes, 20)
		for range 1 + g.r.IntN(3) {
			out = append(out, g.stateStmt()...)
		}
	}
	return out
}

func (g *gen) hasState() bool { return len(g.tables)+len(g.cells)+len(g.aggs) > 0 }

// stateStmt changes a container.
func (g *gen) stateStmt() []*Stmt {
	tables, aggs := g.usable(), g.usableAggregations()
	n := len(tables) + len(g.cells) + len(aggs)
	if n == 0 {
		return nil
	}
	i := g.r.IntN(n)
	if i < len(tables) {
		return []*Stmt{g.tableStmt(tables[i])}
	}
	i -= len(tables)
	if i < len(g.cells) {
		return []*Stmt{{Form: Do, Exprs: []*Expr{g.cellCall(g.cells[i])}}}
	}
	return []*Stmt{{Form: Do, Exprs: []*Expr{g.aggAdd(aggs[i-len(g.cells)])}}}
}

// absentKey is a key with an element that is None when the script is compiled: it disappears, for it is so wherever the
// container is used.
func (g *gen) absentKey(key *Expr) *Expr {
	if key.Type.Kind == Tuple || g.user || !g.one(6) {
		return key
	}
	with := &Expr{Form: Display, Args: []*Expr{key, none}}
	if g.noneFirst {
		with.Args = []*Expr{none, key}
	}
	return &Expr{Form: Given, Type: key.Type, Args: []*Expr{with}, Ref: "_present"}
}

func (g *gen) tableStmt(t table) *Stmt {
	recv, key := leaf(Type{}, t.name), g.absentKey(g.keyExpr(t.key, exprDepth-1))
	if t.val.Kind == Int && g.one(2) {
		ops, v := []string{"&", "|", "^"}, unsigned
		if t.val.Class != Unsigned { // + - * make it signed: TestOpAssign
			ops, v = append(ops, "+", "+", "-", "-", "*"), pick(g, []Type{signed, unsigned, plainInt})
		}
		return &Stmt{Form: Update, Target: t.name, Op: pick(g, ops),
			Exprs: []*Expr{key, g.expr(v, exprDepth-1)}, Wrap: wrapTo(t.val)}
	}
	switch g.r.IntN(6) {
	case 0:
		return &Stmt{Form: Do, Exprs: []*Expr{method(t.val.opt(), recv, "pop", key)}}
	case 1:
		return &Stmt{Form: Do, Exprs: []*Expr{method(Type{}, recv, "remove", key)}}
	case 2:
		return &Stmt{Form: Do, Exprs: []*Expr{method(Type{}, recv, "set", key, g.expr(t.val, exprDepth))}}
	case 3, 4:
		if t.val.Kind == Int && t.val.Class != Unsigned {
			add := method(Type{}, recv, "add", key)
			add.Ref = "_add_s"
			if !g.one(4) {
				add.Args = append(add.Args, g.expr(pick(g, []Type{signed, unsigned, plainInt}), exprDepth-1))
			}
			return &Stmt{Form: Do, Exprs: []*Expr{add}}
		}
	}
	return &Stmt{Form: SetItem, Target: t.name, Exprs: []*Expr{key, g.expr(t.val, exprDepth)}}
}

func (g *gen) cellCall(c cell) *Expr {
	recv := leaf(Type{}, c.name)
	if c.val.Kind == Int && g.one(2) {
		add := method(Type{}, recv, "add")
		add.Ref = "_cell_add"
		if !g.one(3) {
			add.Args = append(add.Args, g.anyInt(exprDepth-1))
		}
		return add
	}
	return method(Type{}, recv, "set", g.expr(c.val, exprDepth-1))
}

// aggAdd is a.add(value, weight), with a key or for a member.
func (g *gen) aggAdd(a aggregation) *Expr {
	recv := leaf(Type{}, a.name)
	if a.keyed {
		key := g.expr(a.key, exprDepth-1)
		if g.user && a.key.Kind == Int && g.one(4) { // such a key is an error where it has more than 64 bits
			key = arith("<<", key, leaf(plainInt, pick(g, []string{"8", "40", "60"})))
		}
		recv = &Expr{Form: Index, Args: []*Expr{recv, g.absentKey(key)}}
	}
	kind := a.kind
	if kind == "group" {
		kind = pick(g, a.members)
		recv = &Expr{Form: Attr, Text: kind, Args: []*Expr{recv}}
	}
	add := method(Type{}, recv, "add")
	switch {
	case kind == "count" && g.one(2):
		return add
	case kind == "count":
		add.Args = append(add.Args, g.inWord(g.expr(signed, exprDepth-1)))
		return add
	}
	v := g.expr(pick(g, []Type{signed, signed, unsigned}), exprDepth-1)
	add.Args = append(add.Args, g.inWord(v))
	if g.one(4) {
		add.Args = append(add.Args, leaf(plainInt, fmt.Sprint(g.r.IntN(5))))
	}
	return add
}

// inWord is x, which the interpreter's aggregations take if it has 64 bits.
func (g *gen) inWord(x *Expr) *Expr {
	if g.user {
		return arith("&", x, leaf(plainInt, "0xffff"))
	}
	return x
}
