package infer

import (
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/plan"
)

// Operators between values in kernel halves: arithmetic, `==`, `<`, `in`; messages as `are never equal`, `cannot run in
// a kernel half`, / makes a float.

// binary applies an operator.
func (b operators) binary(op syntax.Token, x, y val, pos plan.Pos) val {
	if v, ok := folded(op, x.c, y.c); ok {
		b.foldedTo(op, v, x, y, pos)
		return v
	}
	if at := b.addressAtStart(op, x, y); at != nil {
		x.start, y.start = nil, nil
		v := at.ops().binary(op, x, y, pos)
		v.start = at
		return v
	}
	switch op {
	case syntax.EQL:
		return condVal(b.equals(x, y, pos))
	case syntax.NEQ:
		return condVal(negate(b.equals(x, y, pos), pos))
	case syntax.IN:
		return condVal(b.contains(x, y, pos))
	case syntax.NOT_IN:
		return condVal(negate(b.contains(x, y, pos), pos))
	case syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		said := len(b.u.always)
		v := b.order(op, x, y, pos)
		b.atThisPoint(said, true, b.compares(x, y), pos)
		return v
	}
	return b.arith(op, x, y, pos)
}

// insteadOf is what to do instead of an operator between values that are no ints.
func insteadOf(op syntax.Token, x, y val) string {
	for _, v := range []val{x, y} {
		switch k := v.typ().Kind; {
		case k == types.Str && (op == syntax.PLUS || op == syntax.PERCENT):
			return ": send the parts, and the handler puts the text together"
		case op == syntax.PLUS && x.typ().Kind == types.Tuple && y.typ().Kind == types.Tuple:
			return ": write all elements, (x[0], x[1], y)"
		case k == types.Bool:
			return ": make an int of the bool, int(x)"
		}
	}
	return ""
}

func (b operators) arith(op syntax.Token, x, y val, pos plan.Pos) val {
	o, ok := arithOps[op]
	if !ok {
		if op == syntax.SLASH {
			refuse(pos, "/ makes a float, which exists in user space only: use // here, or divide in the handler")
		}
		refuse(pos, "the operator %s cannot run in a kernel half", op)
	}
	for _, v := range []val{x, y} {
		v.mustKnow()
	}
	for _, v := range []val{x, y} {
		if k := v.typ().Kind; k == types.Str || k == types.Bool || k == types.Tuple {
			refuse(pos, "%s between %s and %s cannot run in a kernel half%s", op, x.describe(), y.describe(),
				insteadOf(op, x, y))
		}
		if f, ok := v.c.(plan.Float); ok {
			refuse(pos, "%v is a float, which exists in user space only: compute with ints here", float64(f))
		}
	}
	l, r := b.num(x, pos), b.num(y, pos)
	b.warnEnd(op, r, pos)
	return exprVal(b.now(&tree.Expr{Op: o, Type: arithType(o, l, r), Args: []*tree.Expr{l, r}, Pos: pos}))
}

// equals is x == y as a script has it, with a warning if that is known before the run.
func (b operators) equals(x, y val, pos plan.Pos) cond { return b.equalOf(x, y, b.compares(x, y), pos) }

// equal is x == y as one of several comparisons at a place, as in x in (1, 2), with such a warning of each.
func (b operators) equal(x, y val, pos plan.Pos) cond {
	return b.equalOf(x, y, constantTexts(x, y), pos)
}

func (b operators) equalOf(x, y val, constants [2]string, pos plan.Pos) cond {
	said := len(b.u.always)
	c := b.equalHere(x, y, pos)
	b.atThisPoint(said, !c.known || c.value, constants, pos)
	return c
}

// equalHere is x == y. Values of different kinds are not equal, as in Starlark.
func (b operators) equalHere(x, y val, pos plan.Pos) cond {
	if x.asked != nil || y.asked != nil {
		return untold{b.u}.compared(b.body, x, y, pos)
	}
	x.mustKnow()
	y.mustKnow()
	notView(x.typ(), pos)
	notView(y.typ(), pos)
	if eq, ok := fold.Equal(x.c, y.c); ok {
		return known(eq)
	}
	notNumber(x, y, pos)
	notNumber(y, x, pos)
	_, x, y, _ = byOrder(syntax.EQL, onceFloat(b.body, x), onceFloat(b.body, y), pos)
	if fold.IsFault(x.c) {
		x, y = y, x
	}
	x, _ = b.unfolded(x, pos)
	y, _ = b.unfolded(y, pos)
	if fold.IsFault(y.c) {
		return b.isFault(x, pos)
	}
	if xs, ok := compositeOf(x); ok {
		if ys, ok := compositeOf(y); ok {
			return b.equalComposites(xs, ys, pos)
		}
	}
	l, r := onceAbsent(b.body, b.compared(x, pos)), onceAbsent(b.body, b.compared(y, pos))
	if l.Type.Kind == types.None || r.Type.Kind == types.None {
		return b.equalAbsent(l, r, pos)
	}
	if c, ok := b.equalName(l, y, r, x, pos); ok {
		return c
	}
	if ln, rn, ok := sameName(l, r); ok {
		l, r = ln, rn
	} else if lt, rt := bothTexts(b.u, l, r); lt != l || rt != r {
		l, r = lt, rt
	} else if l.Type.Label != r.Type.Label || !oneName(l.Type) {
		notLabelled(l.Type, pos)
		notLabelled(r.Type, pos)
		sameText(l.Type, r.Type, pos)
	}
	b.warnTooLong(l, r, pos)
	b.warnTooLong(r, l, pos)
	b.warnOutOfRange(syntax.EQL, l, r, pos)
	lk, rk := plainKind(l.Type.Kind), plainKind(r.Type.Kind)
	if lk != rk {
		return b.differ(l, r, pos)
	}
	out, ok := comparePointers(tree.OpEq, l.Type, r.Type, assume(l), assume(r), pos)
	if !ok {
		out = operation(tree.OpEq, types.Boolean, assume(l), assume(r), pos)
	}
	return cond{expr: tagsEqual(l, r, out, pos)}
}

// equalName compares a system call, which the kernel half knows by number,
// with a name.
func (b operators) equalName(l *tree.Expr, y val, r *tree.Expr, x val, pos plan.Pos) (cond, bool) {
	s, ok := y.constStr()
	if !ok {
		l = r
		if s, ok = x.constStr(); !ok {
			return cond{}, false
		}
	}
	if l.Type.Label == types.Name.Label {
		return equalNumber(l, b.u.nameTable.number(s), pos), true
	}
	if kind, _, found := strings.Cut(l.Type.Label, ":"); found && l.Type.IsName() {
		if l.Type.Label == b.pr.labelOf(kind) && !l.Type.MayNone && !l.Type.MayFault {
			return b.testOwn(l, kind, nameTest{holds: func(name string) bool { return name == s }}, pos), true
		}
		return equalNumber(l, b.u.nameTable.number(s), pos), true
	}
	base, ok := map[string]int64{"syscall_name": 0, "syscall_point": tree.SyscallPoints}[l.Type.Label]
	if !ok {
		return cond{}, false
	}
	n, found := tree.SyscallNumber(s)
	if !found || n < base || n-base >= tree.SyscallPoints {
		b.warnNoCall(l.Type.Label, s, pos)
		return known(false), true
	}
	return equalNumber(l, n-base, pos), true
}

// warnTooLong warns of a constant that is longer than the string that it is
// compared with can be, as the name of a command.
func (b operators) warnTooLong(s, constant *tree.Expr, pos plan.Pos) {
	if s.Type.Kind == types.Str && s.Op != tree.OpConst && constant.Op == tree.OpConst &&
		constant.Type.Kind == types.Str && len(constant.Str) >= s.Type.Cap && s.Type.Cap > 0 {
		b.u.warnAlways(pos, "a string of at most %s is compared with one of %d: they are never equal",
			format.Count(s.Type.Cap-1, "byte"), len(constant.Str)) // without the NUL
	}
}

// differ is the comparison of kinds that are never equal; both may still be
// None or FAULT.
func (b operators) differ(l, r *tree.Expr, pos plan.Pos) cond {
	what := exprVal(l).describe() + " is compared with " + exprVal(r).describe()
	none, fault := l.Type.MayNone && r.Type.MayNone, l.Type.MayFault && r.Type.MayFault
	switch {
	case none && (l.Type.Kind == types.Ptr || r.Type.Kind == types.Ptr): // one that is null has no mark of being None
		refuse(pos, "%s, and each may be None: test one with `!= None` first", what)
	case none && fault:
		b.u.warnAlways(pos, "%s: they are equal only where both are None, or both FAULT", what)
	case none:
		b.u.warnAlways(pos, "%s: they are equal only where both are None", what)
	case fault:
		b.u.warnAlways(pos, "%s: they are equal only where both are FAULT", what)
	default:
		b.u.warnAlways(pos, "%s: they are never equal", what)
		return known(false)
	}
	return cond{expr: tagsEqual(l, r, constExpr(plan.Bool(false), pos), pos)}
}

// plainKind folds pointers with ints: an address is an int to scripts.
func plainKind(k types.Kind) types.Kind {
	if k == types.Ptr {
		return types.Int
	}
	return k
}

// A composite is a tuple or a record that is compared by its elements.
type composite struct {
	names  []string // of a record
	record bool
	elems  []val
	// whole is the value itself, if it may be None or FAULT.
	whole *tree.Expr
}

// compositeOf is v as one, if it is a tuple or a record.
func compositeOf(v val) (composite, bool) {
	out := composite{whole: &tree.Expr{}}
	switch c := v.c.(type) {
	case plan.Tuple:
		out.elems = constants(c)
		return out, true
	case plan.Record:
		out.record = true
		for _, f := range c {
			out.names, out.elems = append(out.names, f.Name), append(out.elems, constant(f.Value))
		}
		return out, true
	}
	switch {
	case v.comp:
		out.names, out.record, out.elems = v.names, v.isRecord(), v.elems
		return out, true
	case v.expr == nil || v.expr.Type.Kind != types.Tuple && v.expr.Type.Kind != types.Record:
		return out, false
	}
	out.whole, out.names, out.record = v.expr, v.expr.Type.Names, v.expr.Type.Kind == types.Record
	for i, t := range v.expr.Type.Elems {
		out.elems = append(out.elems, exprVal(&tree.Expr{Op: tree.OpElem, Type: t, Int: int64(i),
			Args: []*tree.Expr{assume(v.expr)}, Pos: v.expr.Pos}))
	}
	return out, true
}

// equalComposites is x == y. A record is never equal to a tuple, and of two records the names decide, not their order.
func (b operators) equalComposites(x, y composite, pos plan.Pos) cond {
	if x.record != y.record {
		b.u.warnAlways(pos, "a tuple is compared with a record: they are never equal")
	}
	out := b.equalParts(x, y, pos)
	values := out.expr
	if out.known {
		values = constExpr(plan.Bool(out.value), pos)
	}
	all := tagsEqual(x.whole, y.whole, values, pos)
	if all.Op == tree.OpConst {
		return known(all.Int != 0)
	}
	return cond{expr: all}
}

// equalParts compares values that are there.
func (b operators) equalParts(x, y composite, pos plan.Pos) cond {
	if x.record != y.record || len(x.elems) != len(y.elems) {
		return known(false)
	}
	others := y.elems
	if x.record {
		others = nil
		for _, name := range x.names {
			i := slices.Index(y.names, name)
			if i < 0 {
				return known(false)
			}
			others = append(others, y.elems[i])
		}
	}
	out := known(true)
	for i := range x.elems {
		var decided bool
		if out, decided = connected(tree.OpLAnd, out, b.equal(x.elems[i], others[i], pos), pos); decided {
			break
		}
	}
	return out
}

var orderOps = map[syntax.Token]tree.Op{
	syntax.LT: tree.OpLt, syntax.LE: tree.OpLe, syntax.GT: tree.OpGt, syntax.GE: tree.OpGe,
}

// order is < <= > >=.
func (b operators) order(op syntax.Token, x, y val, pos plan.Pos) val {
	if x.asked != nil || y.asked != nil {
		return condVal(untold{b.u}.compared(b.body, x, y, pos))
	}
	x.mustKnow()
	y.mustKnow()
	op, x, y, floats := byOrder(op, onceFloat(b.body, x), onceFloat(b.body, y), pos)
	if floats { // as ints, which is what they are from here on; nobody has written one
		x = exprVal(b.present(x, "a float", pos))
	}
	if y.typ().Kind == types.Str {
		x = asText(x, pos)
	} else if x.typ().Kind == types.Str {
		y = asText(y, pos)
	}
	x, y = b.nameAsText(x, pos), b.nameAsText(y, pos)
	xk, yk := x.typ().Kind, y.typ().Kind
	if xk == types.Str && yk == types.Str {
		l, r := b.present(x, "a string", pos), b.present(y, "a string", pos)
		return exprVal(&tree.Expr{Op: orderOps[op], Type: types.Boolean, Args: []*tree.Expr{l, r}, Pos: pos})
	}
	if xk == types.Bool && yk == types.Bool {
		l, r := b.present(x, "a bool", pos), b.present(y, "a bool", pos)
		return exprVal(&tree.Expr{Op: orderOps[op], Type: types.Boolean, Args: []*tree.Expr{l, r}, Pos: pos})
	}
	if xk == types.Str || yk == types.Str || xk == types.Bool || yk == types.Bool {
		wrong(pos, "%s and %s cannot be compared by %s", x.describe(), y.describe(), op)
	}
	for _, k := range []types.Kind{xk, yk} {
		if k == types.Tuple || k == types.Record {
			refuse(pos, "a tuple has no order in a kernel half: compare its elements, "+
				"x[0] < y[0] or x[0] == y[0] and x[1] < y[1]")
		}
	}
	l, r := b.num(x, pos), b.num(y, pos)
	b.warnOutOfRange(op, l, r, pos)
	if e, ok := comparePointers(orderOps[op], x.typ(), y.typ(), l, r, pos); ok {
		return exprVal(e)
	}
	return exprVal(&tree.Expr{Op: orderOps[op], Type: types.Boolean, Args: []*tree.Expr{l, r}, Pos: pos})
}

// nameAsText is v, or its text if it is a name.
func (b operators) nameAsText(v val, pos plan.Pos) val {
	if v.obj != nil || !v.typ().IsName() {
		return v
	}
	return b.bind("", exprVal(nameTexts{b.u}.textOf(b.rv(v, pos))), pos)
}

// contains is x in y.
func (b operators) contains(x, y val, pos plan.Pos) cond {
	if ref, ok := y.c.(plan.Ref); ok {
		return b.tables().hasKey(ref.Container, x, pos)
	}
	if y.asked != nil {
		return untold{b.u}.compared(b.body, x, y, pos)
	}
	if c, ok := b.partOfName(x, y, pos); ok {
		return c
	}
	if y = b.nameAsText(asText(y, pos), pos); y.typ().Kind == types.Str {
		return b.substring(x, y, pos)
	}
	if elems, ok := b.elements(y, pos); ok {
		x, out := onceFloat(b.body, x), known(false)
		for _, e := range elems {
			var decided bool
			if out, decided = connected(tree.OpLOr, out, b.equal(x, e, pos), pos); decided {
				break
			}
		}
		return out
	}
	if b.attributes().isList(y, pos) {
		refuse(pos, "%s", eachOfList)
	}
	noElements(y, pos)
	b.attributes().noPointer(y, pos)
	refuse(pos, "in works with tables, strings and constant lists in a kernel half, got %s", y.describe())
	return cond{}
}

func (b operators) substring(x, y val, pos plan.Pos) cond {
	needle, ok := x.constStr()
	if !ok {
		refuse(pos, `in needs a constant on its left in a kernel half, got %s: "part" in s; `+
			`one of several is s in ("a", "b")`, x.describe())
	}
	h := b.present(y, "a string", pos)
	if needle == "" {
		return known(true)
	}
	if len(needle) > tree.MaxPattern {
		refuse(pos, "a text of %d bytes is looked for; in takes %d in a kernel half: "+
			"startswith, endswith and == take more", len(needle), tree.MaxPattern)
	}
	return cond{expr: operation(tree.OpContains, types.Boolean, h, constExpr(plan.String(needle), pos), pos)}
}

// warnEnd warns of an operation with a constant that always ends the handler.
func (b operators) warnEnd(op syntax.Token, r *tree.Expr, pos plan.Pos) {
	n, known := constOperand(r)
	switch {
	case !known || !fold.Fails(op, n):
	case op == syntax.SLASHSLASH || op == syntax.PERCENT:
		b.u.warnf(pos, "division by zero: this ends the handler at each event that comes here")
	default:
		b.u.warnf(pos, "a shift by %d: this ends the handler at each event that comes here", n)
	}
}
