package infer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// t[k], t[k] = v, add(), get(), update(), pop() of tables, cells and aggregations in kernel halves; the message that a
// key or value is of another kind elsewhere.
//
// The types of containers are nowhere in the script. They are joined from all uses in kernel halves, and a use may
// stand before the one that tells the type. So inference goes over the whole plan in rounds:
//
//  1. A use joins the type of its key, and of what it stores, with what was known so far (widen). If that makes the
//     type wider, or tells it for the first time, another round is needed (unit.changed).
//  2. In the last round no use widens anything, so all of them have been compiled with the types that hold in the end.
//  3. Types that cannot be joined, as a string and an int, are a mistake with both places.
//
// In
//
//	bytes = total()
//	last = table()
//
//	def handle(e):
//	    bytes[e.comm].add(e.args.ret)
//	    last[e.pid] = e.time
//
// the first round learns that the keys of bytes are strings of 16 bytes, that those of last are ints without a sign,
// of 64 bits as in all keys of tables, and that its values are of 64 bits. The second round changes nothing:
//
//	container c0 total "bytes" key str[16]
//	container c1 table "last" key u64 value u64
//
// A table that is only read, or of which one entry is set from another, has no type after that. untypedtables.go then
// gives it one. A part of a key that is None wherever the container is used is no part of the key in the map
// (presentParts), so that n[e.comm, e.args.ret if wide else None] costs nothing where wide is False.

// widen makes the type have of a container what it is together with t, that of a use.
func (u *unit) widen(have *types.Type, at *use, t types.Type, pos plan.Pos, what string, c *plan.Container) {
	if have.Kind == types.Bot || have.Kind == types.None && t.Kind != types.None {
		*at = use{pos, u.point}
	}
	j, ok := types.Join(withTexts(*have, t), t)
	if !ok && c.Kind == plan.Cell && at.Pos == c.Pos && c.Init != (plan.None{}) {
		first := inWords(*have)
		if i, isInt := c.Init.(plan.Int); isInt && i.Big.Sign() == 0 {
			first = "the int 0, as cell() does"
		}
		do := "cell(None)"
		if writable(t) {
			do += ", or begin it with a value of this kind"
		}
		wrong(pos, "the value of cell %s is %s here, but at %s it begins as %s: write %s", name(c), inWords(t), *at,
			first, do)
	}
	if !ok {
		mixedTexts(u, *have, t, *at, pos, what, c)
		here, there := at.beside(pos, u.point)
		is, was := apartInWords(t, *have)
		wrong(pos, "the %s of %s %s is %s here%s, but %s at %s: one %s holds one kind, so use a second one%s", what,
			c.Kind, name(c), is, here, was, there, c.Kind, inAnother(here))
	}
	if c.Kind == plan.Cell {
		u.nameTable.first(j, c.Init)
	}
	if !j.Equal(*have) && unmarked(j).Equal(unmarked(*have)) {
		*have = j
	}
	if !j.Equal(*have) {
		from, to := inWords(*have), inWords(j)
		if from == to { // of another size
			from, to = inSize(*have), inSize(j)
		}
		u.mayChange(c, what, from, to, at.Pos, pos)
		*have = j
		u.changed = true
	}
}

// writable reports whether a script can write a value of type t: what labels give, as signal(9), is a string there.
func writable(t types.Type) bool {
	if slices.ContainsFunc(t.Elems, func(e types.Type) bool { return !writable(e) }) {
		return false
	}
	return t.IsName() || t.Label == "" && t.Kind != types.Stack
}

// inAnother is what to do where one expression has two types, at two points of its probe.
func inAnother(here string) string {
	if here == "" {
		return ""
	}
	return ", and a probe for each of the points"
}

// finish gives the container as the rest of the compiler sees it.
func (t *contType) finish() *tree.Container {
	out := &tree.Container{Container: t.c, Key: unmarked(t.key), Value: unmarked(t.val), Present: t.present}
	if out.Key.Kind == types.Bot {
		out.Key = types.NoneT
	}
	guessed := t.guessed
	if out.Value.Kind == types.Bot { // only user space sets it
		out.Value, guessed = types.I64, true
	}
	if t.keyed || out.Key.Kind != types.None { // FAULT alone has no kind of its own
		out.KeyLayout = layout.Fixed(out.Key)
	}
	if !t.c.Kind.IsAggregation() && t.c.Kind != plan.Group {
		out.ValueLayout = layout.Value(out.Value)
		out.ValueLayout.Unsaid = guessed
	}
	return out
}

// key makes the key expression of a container's entry: one value, or a tuple.
// Parts that are None by folding wherever the container is used disappear.
func (b tables) key(c *plan.Container, k val, pos plan.Pos) (*tree.Expr, bool) {
	if k.comp && !k.isRecord() && len(k.elems) == 0 {
		refuse(pos, "a key of no parts is made in user space: () has nothing that a map could keep")
	}
	unmixed(b.u, c, pos)
	t := b.u.cont(c)
	parts := b.u.presentParts(t, k, pos)
	if len(parts) == 0 {
		return nil, false
	}
	k = parts[0]
	if len(parts) > 1 {
		k = val{comp: true, elems: parts}
	}
	e := keyed(b.body, b.rv(b.fitting(inOrderOf(k, t.key), t.key, pos), pos), pos)
	checkKey(c, e.Type, pos)
	kt := keyType(literals(e))
	if c.Kind == plan.Table {
		kt = wholeInts(kt)
	}
	b.u.widen(&t.key, &t.keyAt, kt, pos, "key", c)
	if c.Kind == plan.Table {
		oneEntryEach(t.key, pos)
	}
	t.keyed = true
	return convert(e, unmarked(t.key)), true
}

// presentParts gives the parts of a key that some use of the container has.
// One that was None so far changes the type of the key.
func (u *unit) presentParts(t *contType, k val, pos plan.Pos) []val {
	parts := []val{k}
	if k.comp && !k.isRecord() && len(k.elems) != 1 {
		parts = k.elems
	}
	if t.present == nil {
		t.present = make([]bool, len(parts))
	}
	if len(parts) != len(t.present) { // a clash, unless it is by what is None here
		return slices.DeleteFunc(slices.Clone(parts), val.isNone)
	}
	for i, part := range parts {
		if !part.isNone() && !t.present[i] {
			u.partAppears(t, i, pos)
		}
	}
	var out []val
	for i, part := range parts {
		if t.present[i] {
			out = append(out, part)
		}
	}
	return out
}

func checkKey(c *plan.Container, t types.Type, pos plan.Pos) {
	if t.Kind == types.Mem {
		wrong(pos, "a struct cannot be a key: use its fields")
	}
}

// oneEntryEach refuses a table's key with a label that gives many numbers one text, as all times of a year: the map
// would have an entry of each number, where a script sees one key. Aggregations add such entries up; what a table holds
// cannot be.
func oneEntryEach(t types.Type, pos plan.Pos) {
	if t.Kind == types.Stack && t.Label != "" {
		refuse(pos, "a table's key with %s, of which many stacks have the same, is made in user space: "+
			"use an aggregation, which adds up the entries that read alike", inWords(t))
	}
	if name := labelName(t); name == "strftime" || name == "ksym" || t.Label == "names:mode" {
		refuse(pos, "a table's key with %s, of which many numbers have one text, is made in user space: "+
			"use the number, or an aggregation, which adds up the entries of one text", inWords(t))
	}
	if t.Label != "names:tcp_state" && strings.HasPrefix(t.Label, "names:") && t.Bits == 64 {
		refuse(pos, "a table's key with names() of 64 bits, of which -8 and 0xfffffff8 can be the same flags, is made "+
			"in user space: give names() an int of 32 bits, as uint32(v) is, or use the number")
	}
	for _, e := range t.Elems {
		oneEntryEach(e, pos)
	}
}

// setIndex is t[k] = v.
func (b tables) setIndex(x, k, v val, pos plan.Pos) {
	ref, ok := x.c.(plan.Ref)
	if !ok {
		refuse(pos, "%s cannot be changed in a kernel half: use a table", x.describe())
	}
	b.tableSet(ref.Container, k, v, pos)
}

func (b tables) tableSet(c *plan.Container, k, v val, pos plan.Pos) {
	wantTable(c, pos)
	if k.hasPoison() {
		b.willSet(c, v, pos)
		refusal.AfterMistake()
	}
	ke, ok := b.key(c, k, pos)
	if !ok {
		wrong(pos, "the key is None")
	}
	b.wrote(c, pos)
	ve := b.kept(c, v, pos)
	b.emit(&tree.Stmt{Op: tree.STableSet, Int: int64(c.ID), Exprs: []*tree.Expr{ke, ve}, Pos: pos})
}

// kept is v in the form in which c keeps its values.
func (b tables) kept(c *plan.Container, v val, pos plan.Pos) *tree.Expr {
	unmixed(b.u, c, pos)
	b.guess(c, v, pos)
	have := b.u.cont(c).val
	if v.obj == nil && v.typ().IsName() && !isOtherText(have) {
		have = types.Name // a value takes 8 bytes anyway
	}
	e := b.rv(b.fitting(v, have, pos), pos)
	return convert(e, b.value(c, literals(e), pos))
}

// value widens the value type of a table or cell and gives it.
func (b tables) value(c *plan.Container, t types.Type, pos plan.Pos) types.Type {
	ct := b.u.cont(c)
	b.u.widen(&ct.val, &ct.valAt, storedAll(t), pos, "value", c)
	return unmarked(ct.val)
}

func (b tables) wrote(c *plan.Container, pos plan.Pos) {
	b.u.noteUse(c.ID, true)
	b.setShared(c, pos)
	if _, ok := b.u.written.Get(c.ID); !ok {
		b.u.written.Set(c.ID, pos)
	}
}

func wantTable(c *plan.Container, pos plan.Pos) {
	if c.Kind != plan.Table {
		wrong(pos, "%s is a %s: its entries are changed by .add(…)", name(c), c.Kind)
	}
}

// getIndex is t[k], or the row a[k] of an aggregation.
func (b tables) getIndex(c *plan.Container, k val, pos plan.Pos) val {
	b.asks(c)
	if c.Kind.IsAggregation() || c.Kind == plan.Group {
		r := &row{c: c, keyed: true, key: []val{b.bind("", k, pos)}}
		return objVal(r)
	}
	wantTable(c, pos)
	return b.tableOp(tree.OpTableIndex, c, k, nil, pos)
}

// tableOp reads from a table here and now. missing is what get and pop give where there is no entry, nil: None.
func (b tables) tableOp(op tree.Op, c *plan.Container, k val, missing *tree.Expr, pos plan.Pos) val {
	ke, ok := b.key(c, k, pos)
	if !ok {
		wrong(pos, "the key is None")
	}
	t := b.valueType(c)
	if op != tree.OpTableHas && t.Kind == types.Bot {
		// What the table holds is not known in this round: nothing can be
		// said about a use of it.
		return untold{b.u}.value(c)
	}
	list := []*tree.Expr{ke}
	switch {
	case op == tree.OpTableHas:
		if t.Kind == types.Bot {
			b.u.unknown.Set(c.ID, true)
		}
		t = types.Boolean
	case missing != nil:
		t = missing.Type
		list = append(list, missing)
	case op != tree.OpTableIndex:
		t.MayNone = true
	}
	e := &tree.Expr{Op: op, Type: t, Int: int64(c.ID), Args: list, Pos: pos}
	if op == tree.OpTablePop {
		b.addShared(c, pos)
		b.wrote(c, pos)
	}
	return exprVal(b.assign("", e))
}

// valueType is what is known so far of a table's values.
func (b tables) valueType(c *plan.Container) types.Type { return unmarked(b.u.cont(c).val) }

func (b tables) hasKey(c *plan.Container, k val, pos plan.Pos) cond {
	b.asks(c)
	if c.Kind != plan.Table {
		refuse(pos, "only user space knows which keys %s %s has: a table beside it has them in both halves", c.Kind,
			name(c))
	}
	return cond{expr: b.tableOp(tree.OpTableHas, c, k, nil, pos).expr}
}

// updated is the type that `t[k] op= v` gives an entry, with v of type t: that of the operation, as where it is written
// out. + - * give signed values.
func updated(op string, t types.Type) types.Type {
	switch op {
	case "+", "-", "*":
		return types.I64
	}
	return t
}

// update is t[k] op= v.
func (b tables) update(c *plan.Container, k val, op string, v val, pos plan.Pos) {
	wantTable(c, pos)
	ke, ok := b.key(c, k, pos)
	if !ok {
		wrong(pos, "the key is None")
	}
	b.addShared(c, pos)
	b.wrote(c, pos)
	ve := b.num(v, pos)
	if t := b.value(c, updated(op, ve.Type), pos); t.Kind != types.Int {
		wrong(pos, "%s= changes ints, but the values of %s are %s", op, name(c), inWords(t))
	}
	switch op {
	case "-":
		op, ve = "+", &tree.Expr{Op: tree.OpNeg, Type: types.I64, Args: []*tree.Expr{ve}, Pos: pos}
	case "+", "*", "&", "|", "^":
	default:
		refuse(pos, "%s= on a table's entry cannot run in a kernel half; + - * & | ^ can", op)
	}
	b.emit(&tree.Stmt{Op: tree.STableUpdate, Int: int64(c.ID), Str: op, Exprs: []*tree.Expr{ke, ve}, Pos: pos})
}

// containerMethod is a method of a container.
func (b tables) containerMethod(c *plan.Container, m string, args []arg, pos plan.Pos) val {
	if m == "get" || m == "pop" {
		b.asks(c)
	}
	if c.Kind.IsAggregation() || c.Kind == plan.Group {
		return b.rowMethod(&row{c: c}, m, args, pos)
	}
	if c.Kind == plan.Cell {
		return b.cellMethod(c, m, args, pos)
	}
	switch m {
	case "get":
		return b.getOr(tree.OpTableGet, c, named(args, 1, 2, "get(key, default)", pos), pos)
	case "pop":
		return b.getOr(tree.OpTablePop, c, named(args, 1, 2, "pop(key, default)", pos), pos)
	case "set":
		a := named(args, 2, 2, "set(key, value)", pos)
		b.tableSet(c, a[0], a[1], pos)
		return noneVal()
	case "add":
		a := named(args, 1, 2, "add(key, value)", pos)
		n := intVal(1)
		if len(a) > 1 {
			n = a[1]
		}
		b.update(c, a[0], "+", n, pos)
		return noneVal()
	case "remove":
		a := named(args, 1, 1, "remove(key)", pos)
		ke, _ := b.key(c, a[0], pos)
		b.wrote(c, pos)
		b.emit(&tree.Stmt{Op: tree.STableRemove, Int: int64(c.ID), Exprs: []*tree.Expr{ke}, Pos: pos})
		return noneVal()
	}
	refuse(pos, "a table has no method %s in a kernel half%s", m,
		refusal.Near(m, []string{"get", "pop", "set", "add", "remove"}))
	return val{}
}

// getOr is get and pop, with a second argument or without. An entry that is None is there.
func (b tables) getOr(op tree.Op, c *plan.Container, a []val, pos plan.Pos) val {
	var missing *tree.Expr
	if t := b.valueType(c); len(a) > 1 && !a[1].isNone() && canBeNone(t) {
		a[1] = b.bind("", a[1], pos)
		missing = b.rv(a[1], pos)
		entry := &tree.Expr{Op: op, Type: t, Pos: pos}
		_, joined, _, ok := b.u.joinExprs(entry, missing)
		if !ok {
			mixed(exprVal(entry), a[1], pos)
		}
		missing = joined
	}
	v := b.tableOp(op, c, a[0], missing, pos)
	if missing != nil {
		return v
	}
	return b.orDefault(c, v, a, pos)
}

// canBeNone reports whether a value of type t can be None.
func canBeNone(t types.Type) bool { return t.MayNone || t.Kind == types.Ptr || t.Kind == types.None }

// orDefault is the second argument of get and pop of a table none of whose entries is None.
func (b tables) orDefault(c *plan.Container, v val, a []val, pos plan.Pos) val {
	if len(a) < 2 || a[1].isNone() {
		return v
	}
	if v.obj == (poison{}) {
		if t := b.u.cont(c); t.other.Kind == types.Bot {
			t.other = roomy(storedAll(b.rv(a[1], pos).Type), b.u.strMax)
		}
		return v
	}
	missing := b.ops().isNone(v, pos)
	return b.choose(missing, func() val { return a[1] }, func() val { return exprVal(assumeNotNone(v.expr)) }, pos)
}

func (b tables) cellMethod(c *plan.Container, m string, args []arg, pos plan.Pos) val {
	switch m {
	case "get":
		want(args, 0, 0, "get()", pos)
		unmixed(b.u, c, pos)
		if !b.u.cont(c).told() {
			return untold{b.u}.value(c)
		}
		return exprVal(b.assign("", &tree.Expr{Op: tree.OpCellGet, Type: b.valueType(c), Int: int64(c.ID), Pos: pos}))
	case "set":
		a := named(args, 1, 1, "set(value)", pos)
		b.wrote(c, pos)
		e := b.kept(c, a[0], pos)
		b.emit(&tree.Stmt{Op: tree.SCellSet, Int: int64(c.ID), Exprs: []*tree.Expr{e}, Pos: pos})
		return noneVal()
	case "add":
		a := named(args, 0, 1, "add(value)", pos)
		n := intVal(1)
		if len(a) > 0 {
			n = a[0]
		}
		b.addShared(c, pos)
		b.wrote(c, pos)
		e := b.num(n, pos)
		if t := b.value(c, updated("+", e.Type), pos); t.Kind != types.Int {
			wrong(pos, "add changes ints, but %s holds %s", name(c), inWords(t))
		}
		b.emit(&tree.Stmt{Op: tree.SCellAdd, Int: int64(c.ID), Str: "+", Exprs: []*tree.Expr{e}, Pos: pos})
		return noneVal()
	}
	refuse(pos, "a cell has no method %s in a kernel half%s", m, refusal.Near(m, []string{"get", "set", "add"}))
	return val{}
}

// member gives the aggregation of a group by name.
func (b attributes) member(c *plan.Container, name string) (*plan.GroupMember, bool) {
	for i := range c.Members {
		if c.Members[i].Name == name {
			return &c.Members[i], true
		}
	}
	return nil, false
}

// readLater refuses what an aggregation has come to: each CPU counts for itself, and user space adds that up.
func readLater(name string, pos plan.Pos) {
	if name == "value" {
		refuse(pos, ".value of an aggregation is read in user space: in a handler or what every() and at_exit() run; "+
			"a kernel half compares what it counts itself in a table(), as t[k] += 1")
	}
}

func (b attributes) rowAttr(r *row, name string, pos plan.Pos) val {
	if r.c.Kind == plan.Group && r.member == nil {
		m, ok := b.member(r.c, name)
		if !ok {
			wrong(pos, "%s", lacking(r.c, true, name))
		}
		out := *r
		out.member = m
		return objVal(&out)
	}
	of := r.c
	if r.member != nil {
		of = r.member.Agg
	}
	if msg := lacking(of, true, name); msg != "" {
		wrong(pos, "%s", msg)
	}
	readLater(name, pos)
	return objVal(&method{objVal(r), name})
}

// rowMethod is a[k].add(v, weight) or a.add(v, weight).
func (b tables) rowMethod(r *row, m string, args []arg, pos plan.Pos) val {
	if m != "add" {
		refuse(pos, "a kernel half only adds to an aggregation: .add(…), not .%s", m)
	}
	if why := r.c.Alone(); why != "" {
		wrong(pos, "%s", why)
	}
	if r.c.Kind == plan.Group && r.member == nil {
		wrong(pos, "a group has no add: its members do, %s.%s.add(…)", name(r.c), r.c.Members[0].Name)
	}
	agg, sname := r.c, ""
	if r.member != nil {
		agg, sname = r.member.Agg, r.member.Name
	}
	v, w := addArgs(agg, args, pos)
	if typ := userType(v); typ == "tuple" || typ == "list" {
		refuse(v.place(pos), "%s.add(…): got %s, %s", agg.Kind, v.describe(), plan.WantsInt(typ))
	}
	exprs := []*tree.Expr{b.num(v, pos), b.weight(agg, w, pos)}
	t := b.u.cont(r.c)
	if r.keyed {
		if ke, ok := b.key(r.c, r.key[0], pos); ok {
			exprs = append(exprs, ke)
		}
	}
	if !r.keyed && len(r.c.By) > 0 {
		wrong(pos, "%s", r.c.WithoutKey())
	}
	if len(exprs) == 2 && t.keyed {
		wrong(pos, "%s is used with a key at %s and without one here", name(r.c), t.keyAt)
	}
	b.addShared(r.c, pos)
	b.emit(&tree.Stmt{Op: tree.SAggAdd, Int: int64(r.c.ID), Str: sname, Exprs: exprs, Pos: pos})
	return noneVal()
}

// weight is what an aggregation counts a value for, an int with a sign. One below 0 that the buckets of histograms
// cannot have ends the handler: see the builder.
func (b tables) weight(agg *plan.Container, w val, pos plan.Pos) *tree.Expr {
	if agg.Kind == plan.Count { // counted like a value, of any sign
		return b.num(w, pos)
	}
	e := b.signedNum(w, "a weight", pos)
	if agg.Kind.HasBuckets() && e.Op == tree.OpConst && !nonNegative(e) {
		wrong(pos, "a weight of %d: a %s counts values, so that a weight is at least 0", e.Int, agg.Kind)
	}
	return e
}

// addArgs are the value and the weight of add(value, weight), of a count the
// weight only.
func addArgs(agg *plan.Container, args []arg, pos plan.Pos) (v, w val) {
	v, w = intVal(1), intVal(1)
	if agg.Kind == plan.Count {
		if a := named(args, 0, 1, "add(n)", pos); len(a) > 0 {
			w = a[0]
		}
		return v, w
	}
	a := named(args, 0, 2, "add(value, weight)", pos)
	if len(a) == 0 {
		wrong(pos, "%s.add() wants a value", agg.Kind)
	}
	if len(a) > 1 {
		w = a[1]
	}
	return a[0], w
}

// asks notes a container that a kernel half reads.
func (b tables) asks(c *plan.Container) {
	b.readShared(c)
	if b.u.reading {
		b.u.asked.Set(containerUse{b.u.probe, c.ID}, true)
	}
	b.u.asksOf(c)
}

// partAppears says that a use has something in part i of a key, which was None in all uses so far. That changes the
// type of the key.
func (u *unit) partAppears(t *contType, i int, pos plan.Pos) {
	u.mayChange(t.c, "key", fmt.Sprintf("without its part %d", i+1), "with it", t.keyAt.Pos, pos)
	t.present[i], t.key, u.changed = true, types.Type{}, true
}
