package infer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// Values as expressions of a program; messages that one may be None here, is one of two kinds, or that an array is too
// long for a value (`maxArray`).

// present gives v without the possibility of None, for uses that need a
// value. None must have been excluded by a test; FAULT ends the handler.
func (b *body) present(v val, want string, pos plan.Pos) *tree.Expr {
	e := b.rv(v, pos)
	t := e.Type
	pos = v.place(pos)
	switch {
	case fold.IsFault(v.c):
		wrong(pos, "this is FAULT, and %s is wanted", want)
	case t.Kind == types.None:
		panic(&refusal.Refusal{
			Diag:  refusal.Diag{Pos: pos, Msg: fmt.Sprintf("this is None, and %s is wanted%s", want, v.lacks)},
			Final: true, None: true,
		})
	case t.MayNone && t.Kind != types.Ptr && !t.MayFault:
		wrong(pos, "this may be None here, and %s is wanted: test it with `!= None` first", want)
	case t.Tagged() || t.MayNone && t.Kind != types.Ptr:
		p := t.Present()
		return b.now(&tree.Expr{Op: tree.OpPresent, Type: p, Str: want, Args: []*tree.Expr{e}, Pos: pos})
	}
	return e
}

// num gives v as a present int. A pointer is its address.
func (b *body) num(v val, pos plan.Pos) *tree.Expr {
	v.mustKnow()
	switch o := v.obj.(type) {
	case *regStruct:
		v = o.whole(b, pos)
	case *goValue:
		v = (golang{b}).whole(o, pos)
	case *rustEnum:
		v = (library{b}).enumValue(o, pos)
	}
	if v.obj == nil {
		switch t := v.typ(); t.Kind {
		case types.Int, types.None:
			notLabelled(t, pos)
			return b.present(v, "an int", pos)
		case types.Ptr:
			e := b.present(v, "an int", pos)
			return &tree.Expr{Op: tree.OpConvert, Type: types.U64, Args: []*tree.Expr{e}, Pos: pos}
		}
	} else if a, ok := v.obj.(addressed); ok {
		if e := addressIn(b, a, pos); e.Type.Kind == types.Int || e.Type.Kind == types.Ptr { // mem() is bytes
			return b.present(exprVal(e), "an int", pos)
		}
	}
	notView(v.typ(), v.place(pos))
	hint := instead(v.c)
	if v.c == nil && v.typ().Kind == types.Float {
		hint = ": a kernel half stores and compares floats; the handler, in user space, computes with them"
	}
	refuse(v.place(pos), "got %s, want an int%s", v.describe(), hint)
	return nil
}

// signedNum is num where user space takes an int of 64 bits with a sign: one of 2^63 or more ends the handler, as it is
// an error there. what names the value in the message.
func (b *body) signedNum(v val, what string, pos plan.Pos) *tree.Expr {
	e := b.num(v, pos)
	switch {
	case !e.Type.Unsigned64():
		return e
	case e.Op != tree.OpConst:
		return b.now(&tree.Expr{Op: tree.OpSigned, Type: types.I64, Str: what, Args: []*tree.Expr{e}, Pos: pos})
	case e.Int < 0:
		wrong(pos, "%s of %d: it must be less than 2^63", what, uint64(e.Int))
	}
	return e
}

// choose gives one of two values by a condition that the kernel decides. Each
// is walked with what the condition proves.
func (b *body) choose(c cond, yes, no func() val, pos plan.Pos) val {
	before := b.frame.Vars
	way := func(f func() val, facts facts) (v val, block *tree.Block) {
		b.frame.Vars = before
		b.apply(facts)
		block = b.inBlock(func() { v = f() })
		return v, block
	}
	yv, yb := way(yes, c.ifTrue)
	nv, nb := way(no, c.ifFalse)
	b.frame.Vars = before
	if yv.obj == (poison{}) || nv.obj == (poison{}) { // the next round knows more
		return objVal(poison{})
	}
	if same(yv, nv) && (yv.c != nil || len(yb.Stmts) == 0 && len(nb.Stmts) == 0) {
		if len(yb.Stmts) > 0 || len(nb.Stmts) > 0 {
			b.emit(&tree.Stmt{Op: tree.SIf, Exprs: []*tree.Expr{c.expr}, Then: yb, Else: nb, Pos: pos})
		}
		return yv
	}
	if len(yb.Stmts) == 0 && len(nb.Stmts) == 0 {
		x, y, result := addresses(b, yv, nv, pos)
		ye, ne, _, ok := b.u.joinExprs(b.rv(x, pos), b.rv(y, pos))
		if !ok {
			mixed(yv, nv, pos)
		}
		if len(ye.Type.Elems) > 1 { // each element is chosen by itself
			c.expr = once(b, c.expr)
		}
		return result(conditional(c.expr, ye, ne, pos))
	}
	out, ok := b.join("", yv, nv, yb, nb, pos)
	if !ok {
		mixed(yv, nv, pos)
	}
	b.emit(&tree.Stmt{Op: tree.SIf, Exprs: []*tree.Expr{c.expr}, Then: yb, Else: nb, Pos: pos})
	return out
}

// join assigns both values to one local at the ends of the two ways.
func (b *body) join(name string, x, y val, then, els *tree.Block, pos plan.Pos) (out val, ok bool) {
	r := refusal.Attempt(func() {
		x, y, result := addresses(b, x, y, pos)
		xe, ye, t, joined := b.u.joinExprs(b.rv(x, pos), b.rv(y, pos))
		if !joined {
			return
		}
		id := b.newLocal(name, t)
		add := func(to *tree.Block, e *tree.Expr) {
			to.Stmts = append(to.Stmts, &tree.Stmt{Op: tree.SAssign, Int: id, Exprs: []*tree.Expr{e}, Pos: pos})
		}
		add(then, xe)
		add(els, ye)
		out, ok = result(b.local(id, pos)), true
	})
	return out, ok && r == nil
}

// addresses gives of two structs in memory of one type their addresses: result is the struct at that one of them which
// is chosen. Other values are what they are.
func addresses(b *body, x, y val, pos plan.Pos) (_, _ val, result func(*tree.Expr) val) {
	p, isStruct := x.obj.(*structObj)
	q, also := y.obj.(*structObj)
	if !isStruct || !also || p.id != q.id || p.space != q.space || p.from != q.from || p.from != nil && p.from != b {
		return x, y, exprVal
	}
	t := types.U64.OrFault() // at FAULT nothing can be read, so that what lies in the struct is FAULT, too
	t.BTF = p.id
	result = func(e *tree.Expr) val { return objVal(&structObj{memPlace{e, 0, p.space, p.from}, p.id}) }
	return exprVal(as(p.value(b, pos), t, pos)), exprVal(as(q.value(b, pos), t, pos)), result
}

// elements gives the parts of a tuple or constant list.
func (b *body) elements(v val, pos plan.Pos) ([]val, bool) {
	v.mustKnow()
	switch {
	case v.comp:
		return v.elems, true
	case v.expr != nil && v.expr.Type.Kind == types.Tuple:
		e := b.present(v, "a tuple", pos)
		out := make([]val, len(e.Type.Elems))
		for i, t := range e.Type.Elems {
			out[i] = exprVal(&tree.Expr{Op: tree.OpElem, Type: t, Int: int64(i), Args: []*tree.Expr{e}, Pos: pos})
		}
		return out, true
	}
	switch o := v.obj.(type) {
	case *regStruct:
		if n, ok := o.length(b); ok && n <= maxUnroll {
			return o.elements(b, n, pos).elems, true
		}
	case *arrayObj:
		if o.len <= maxUnroll {
			return b.memory().arrayValue(o, pos).elems, true
		}
	case *ctxArray:
		if o.len <= maxUnroll {
			return o.everything(pos).elems, true
		}
	}
	switch c := v.c.(type) {
	case plan.Tuple:
		return constants(c), true
	case plan.List:
		return constants(c), true
	case plan.Range:
		return constants(c), true
	case plan.Dict:
		var keys []val
		for _, e := range c {
			keys = append(keys, constant(e.Key))
		}
		return keys, true
	}
	return nil, false
}

// numOrFault is v as an int that may be FAULT: what only reads or converts it passes that on.
func (b *body) numOrFault(v val, pos plan.Pos) *tree.Expr {
	e := b.readable(b.here(v), pos)
	if e.Type.Kind != types.Ptr {
		return e
	}
	t := types.U64
	t.MayFault = e.Type.MayFault
	return as(e, t, pos)
}

// addressOf is v as an address in the program to which it belongs: what the
// start of a span has stays there.
func (b *body) addressOf(v val, pos plan.Pos) (at *body, addr *tree.Expr) {
	at = b
	if v.start != nil {
		at, v.start = v.start, nil
	} else if l, ok := v.obj.(located); ok && l.origin() != nil {
		at = l.origin() // of an array that begins with e.start
	}
	return at, at.numOrFault(v, pos)
}

// readable is v as an address from which something is read: from FAULT that is FAULT.
func (b *body) readable(v val, pos plan.Pos) *tree.Expr {
	if e := v.expr; v.obj == nil && e != nil && e.Type.MayFault && !e.Type.MayNone {
		if e.Type.Kind == types.Ptr || e.Type.Kind == types.Int && e.Type.Label == "" {
			return e
		}
	}
	if a, ok := v.obj.(addressed); ok {
		if e := addressIn(b, a, pos); e.Type.Kind == types.Int && e.Type.MayFault {
			return e
		}
	}
	return b.num(v, pos)
}

// addressIn is the value of what lies in memory, in a program: what lies behind a register of a start is known there.
func addressIn(b *body, a addressed, pos plan.Pos) *tree.Expr {
	if l, ok := a.(located); ok && l.origin() != nil && l.origin() != b {
		return b.here(val{expr: a.value(b, pos), start: l.origin()}).expr
	}
	return a.value(b, pos)
}

// joinExprs gives two values as they are kept where there is one of them, and its type. A constant that is not negative
// takes the sign of the other one: `e.args.addr if c else 0` is not negative. A constant string beside a name is one. A
// constant float beside one of 32 bits has 32.
func (u *unit) joinExprs(x, y *tree.Expr) (_, _ *tree.Expr, _ types.Type, ok bool) {
	x, y = u.named(x, y.Type), u.named(y, x.Type)
	x, y = bothTexts(u, x, y)
	x, y = narrow(x, y.Type), narrow(y, x.Type)
	t, ok := types.Join(chosen(x), chosen(y))
	if ok {
		x, y = convert(x, t), convert(y, t)
	}
	return x, y, t, ok
}

// mixed refuses a value that is x or y. A constant that no kernel half has is the cause, where there is one.
func mixed(x, y val, pos plan.Pos) {
	x.mustKnowAll()
	y.mustKnowAll()
	mustHaveWords(pos, x)
	mustHaveWords(pos, y)
	refuse(pos, "this is %s or %s: a kernel half needs one kind of value, or None%s", x.describe(), y.describe(),
		besides(x, y))
}

// besides is a hint for two values of which no kernel half can keep one, "" where none helps.
func besides(x, y val) string {
	_, constant := x.constStr()
	if x.typ().Kind != types.Int {
		x, y = y, x
	}
	_, alsoConstant := y.constStr()
	t, other := x.typ(), y.typ()
	switch {
	case (constant || alsoConstant) && t.Kind == types.Int && t.Label != "":
		return "; write None instead of the string: the number behind the text is what is kept"
	case isTextual(t) && isTextual(other):
		return "; keep each in a variable, a container or a field of its own"
	}
	if part := cmp.Or(differing(t, other), untyped(x, y)); part != "" {
		return "; " + part
	}
	return oneOf(x, y)
}

// untyped says in which part of two records or tuples of the same form one has what no kernel half keeps, a function or
// a constant of more than 64 bits, "" where there is none: these have no type by which the two differ.
func untyped(x, y val) string {
	if !x.comp || !y.comp || len(x.elems) != len(y.elems) || !slices.Equal(x.names, y.names) {
		return ""
	}
	for i := range x.elems {
		for _, v := range []val{x.elems[i], y.elems[i]} {
			if c, isInt := v.c.(plan.Int); isFunction(v) || isInt && !fold.IsWord(c) {
				return fmt.Sprintf("%s is %s in one of them", partInWords(x.typ(), i), v.describe())
			}
		}
	}
	return ""
}

// partInWords names an element of a tuple or a field of a record.
func partInWords(t types.Type, i int) string {
	if t.Kind == types.Record {
		return "the field " + t.Names[i]
	}
	return fmt.Sprintf("element %d", i)
}

// differing says in which part two records or tuples of the same form differ, "" where they have other forms.
func differing(t, other types.Type) string {
	if t.Kind != other.Kind || len(t.Elems) != len(other.Elems) || !slices.Equal(t.Names, other.Names) {
		return ""
	}
	for i, e := range t.Elems {
		if _, ok := types.Join(e, other.Elems[i]); ok {
			continue
		}
		return fmt.Sprintf("%s is %s in one of them, and %s in the other%s", partInWords(t, i), inWords(e),
			inWords(other.Elems[i]),
			besides(exprVal(&tree.Expr{Type: e}), exprVal(&tree.Expr{Type: other.Elems[i]})))
	}
	return ""
}

// isFunction reports whether a value is a function of the script, which a kernel half can only call.
func isFunction(v val) bool {
	_, closed := v.obj.(*closure)
	_, constant := v.c.(*plan.Func)
	return closed || constant
}

// oneOf is a hint for x == "a" or "b", and for one of two functions.
func oneOf(x, y val) string {
	if isFunction(x) && isFunction(y) {
		return "; " + callOne
	}
	if x.isRecord() && y.isRecord() {
		return "; two records have the same fields in the same order, with values of one kind each"
	}
	if isBool := func(v val) bool { return v.typ().Kind == types.Bool }; isBool(x) && y.typ().Leads() ||
		isBool(y) && x.typ().Leads() {
		return "; of `c and x` write `x if c else None`"
	}
	_, xs := x.constStr()
	_, ys := y.constStr()
	if xs && y.typ().Kind == types.Bool || ys && x.typ().Kind == types.Bool {
		return `; one of several is: s in ("a", "b")`
	}
	return ""
}

// here brings a value of the span's start over to this program.
func (b *body) here(v val) val {
	if v.start == nil || v.start == b {
		v.start = nil
		return v
	}
	return b.span.bring(b, v)
}

// rv gives v as a typed expression of this program.
func (b *body) rv(v val, pos plan.Pos) *tree.Expr {
	v = b.here(v)
	switch {
	case v.expr != nil:
		return v.expr
	case v.comp:
		e := &tree.Expr{Op: tree.OpTuple, Pos: pos}
		if v.names != nil {
			e.Op = tree.OpRecord
		}
		e.Type = types.Type{Kind: types.Tuple, Names: v.names}
		if v.names != nil {
			e.Type.Kind = types.Record
		}
		for _, x := range v.elems {
			a := b.rv(x, pos)
			e.Args = append(e.Args, a)
			e.Type.Elems = append(e.Type.Elems, a.Type)
		}
		return e
	case v.obj != nil:
		v.mustKnow()
		pos = v.place(pos)
		if w, ok := b.unfolded(v, pos); ok {
			return b.rv(w, pos)
		}
		if a, ok := v.obj.(addressed); ok {
			return addressIn(b, a, pos)
		}
		if isFunction(v) {
			refuse(pos, "%s cannot be a value in a kernel half: "+callOne, v.obj.what())
		}
		refuse(pos, "%s cannot be stored or computed with in a kernel half: use its parts", v.obj.what())
	}
	if fold.HasNUL(v.c) {
		refuse(v.place(pos), "a string with a NUL cannot be kept in a kernel half, where strings end at a NUL: "+
			"bytes can, as b\"a\\x00\"")
	}
	return constExpr(v.c, v.place(pos))
}

// unfolded is the value of what has no address of its own, or is known by its parts: of a struct in registers its word
// or a record, of an array a tuple.
func (b *body) unfolded(v val, pos plan.Pos) (val, bool) {
	if list, ok := b.attributes().listValue(v, pos); ok {
		return list, true
	}
	switch o := v.obj.(type) {
	case *goValue:
		return (golang{b}).whole(o, pos), true
	case *rustEnum:
		return (library{b}).enumValue(o, pos), true
	case *regStruct:
		return o.whole(b, pos), true
	case *arrayObj:
		v.carried(pos)
		return b.memory().arrayValue(o, pos), true
	case *ctxArray:
		v.carried(pos)
		return o.everything(pos), true
	}
	return v, false
}

// compared is v in a comparison with ==, which a string with a NUL can stand in: no string of the kernel is equal to
// it.
func (b *body) compared(v val, pos plan.Pos) *tree.Expr {
	if s, ok := v.constStr(); ok && fold.HasNUL(plan.String(s)) {
		return constExpr(v.c, v.place(pos))
	}
	return b.rv(v, pos)
}

// bind gives v with everything evaluated here and now, once.
func (b *body) bind(name string, v val, pos plan.Pos) val {
	switch {
	case v.start != nil && v.start != b:
		return v
	case v.comp:
		out := v
		out.elems = make([]val, len(v.elems))
		for i, e := range v.elems {
			out.elems[i] = b.bind(name, e, pos)
		}
		return out
	case v.expr == nil:
		return v
	}
	switch v.expr.Op {
	case tree.OpConst, tree.OpSpanSlot, tree.OpUnreadable:
		return v
	case tree.OpLocal:
		if !b.pinLocals.At(v.expr.Int) {
			return v
		}
	}
	return exprVal(b.assign(name, v.expr))
}

// carried refuses arrays that are too long to be a value.
func (v val) carried(pos plan.Pos) {
	if n := v.arrayLen(); n > maxArray {
		refuse(pos, "an array of %d elements is no value as a whole, one of %d is: take the elements that are needed, "+
			"as a[0], or their bytes, by mem(…)", n, maxArray)
	}
}

// maxArray bounds the elements of an array that is a value as a whole.
const maxArray = kernel.MaxArray

// sendable is v as what a record can carry. The event itself becomes a record of all of its fields.
func (b *body) sendable(v val, pos plan.Pos) val {
	v.mustKnow()
	if w, ok := b.unfolded(v, pos); ok {
		return w
	}
	switch o := v.obj.(type) {
	case *event:
		return o.everything(pos)
	case *argsObj:
		return o.everything(pos)
	case *varsObj:
		return o.everything(pos)
	case addressed:
		return v
	case nil:
		if v.comp {
			v.elems = slices.Clone(v.elems)
			for i, e := range v.elems {
				v.elems[i] = b.sendable(e, pos)
			}
		}
		return v
	}
	if m, ok := v.obj.(*eventMethod); ok {
		wrong(pos, "e.%s is a method: e.%s()", m.name, m.name)
	}
	wrong(pos, "%s cannot be sent to user space", v.obj.what())
	return v
}

// settled is v as a value of this program that needs nothing more of the span's start, nor do its parts: when the
// record is made, this program may have walked the end of another start.
func (b *body) settled(v val, pos plan.Pos) val {
	v = b.sendable(v, pos)
	if v.comp {
		return v.eachPart(func(e val) val { return b.settled(e, pos) })
	}
	if a, ok := v.obj.(addressed); ok {
		v = val{expr: a.value(b, pos), start: v.start}
		if l, ok := a.(located); ok {
			v.start = l.origin()
		}
	}
	return b.here(b.absorbed(v))
}
