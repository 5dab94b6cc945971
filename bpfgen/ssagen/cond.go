package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// Conditions as branches: and, or, None and FAULT, `x if c else y`.

// test leaves the current block for then where e is true, else for els. What
// e reads on only one of its ways is not remembered.
func (b exprs) test(e *tree.Expr, then, els *ir.Block) {
	defer b.at(e.Pos)()
	switch e.Op {
	case tree.OpConst:
		to := els
		if e.Int != 0 {
			to = then
		}
		b.Jump(to)
	case tree.OpLNot:
		b.cond(e.Args[0], els, then)
	case tree.OpLAnd:
		mid := b.NewBlock()
		b.cond(e.Args[0], mid, els)
		b.second(e.Args[1], mid, then, els)
	case tree.OpLOr:
		mid := b.NewBlock()
		b.cond(e.Args[0], then, mid)
		b.second(e.Args[1], mid, then, els)
	case tree.OpEq, tree.OpNe, tree.OpLt, tree.OpLe, tree.OpGt, tree.OpGe:
		b.compare(e, then, els)
	case tree.OpStartsWith, tree.OpEndsWith, tree.OpContains, tree.OpMatches:
		texts{b.code}.stringTest(e, then, els)
	case tree.OpIsNone:
		b.isAbsent(b.expr(e.Args[0]), wire.TagNone, then, els)
	case tree.OpIsFault:
		b.isAbsent(b.expr(e.Args[0]), wire.TagFault, then, els)
	default:
		b.BranchImm(ir.NE, b.expr(e).x, 0, then, els)
	}
}

// second is the right side of a connective, in block mid.
func (b exprs) second(e *tree.Expr, mid, then, els *ir.Block) {
	saved := b.save()
	b.Begin(mid)
	b.cond(e, then, els)
	b.restore(saved)
}

// isAbsent branches on whether v is None (or FAULT).
func (b exprs) isAbsent(v val, tag int64, then, els *ir.Block) {
	may := v.t.MayNone && tag == wire.TagNone || v.t.MayFault && tag == wire.TagFault
	switch {
	case v.t.Kind == types.None && v.tag == nil:
		b.cond(constBool(tag == wire.TagNone), then, els)
	case v.t.Kind == types.Ptr && tag == wire.TagNone && v.tag == nil:
		b.BranchImm(ir.EQ, v.x, 0, then, els)
	case v.t.Kind == types.Ptr && tag == wire.TagNone:
		// A pointer that could not be read is 0 too, and is not None.
		here := b.NewBlock()
		b.BranchImm(ir.EQ, v.tag, wire.TagPresent, here, els)
		b.Begin(here)
		b.BranchImm(ir.EQ, v.x, 0, then, els)
	case isText(v.t.Kind):
		flag := int64(wire.RefNone)
		if tag == wire.TagFault {
			flag = wire.RefFault
		}
		if !may || v.s.flags == nil {
			b.cond(constBool(false), then, els)
			return
		}
		b.BranchImm(ir.SET, v.s.flags, flag, then, els)
	case v.tag == nil:
		b.cond(constBool(false), then, els)
	case tag == wire.TagFault: // or another kind of it
		b.BranchImm(ir.UGE, v.tag, tag, then, els)
	default:
		b.BranchImm(ir.EQ, v.tag, tag, then, els)
	}
}

// truth makes a value of a condition.
func (b exprs) truth(e *tree.Expr) val {
	if v, ok := b.plainCompare(e); ok {
		return v
	}
	then, els := b.NewBlock(), b.NewBlock()
	b.cond(e, then, els)
	j := b.newJoin(types.Boolean)
	b.Begin(then)
	b.jumpWith(j, intVal(types.Boolean, b.Const(1)))
	b.Begin(els)
	b.jumpWith(j, intVal(types.Boolean, b.Const(0)))
	return b.enter(j)
}

// condExpr is OpCond. A string that is read in one of two ways is read once. So is a number that is asked for more than
// once, as what a comparison with one that may be None does (infer's orAbsent and orderWord), where a loop over a
// string chooses it: the kernel's verifier follows each round of that loop again for each time.
func (b exprs) condExpr(e *tree.Expr) val {
	var key any = e
	switch {
	case isText(e.Type.Kind) && (late{b.code}).stable(e):
		key = late{b.code}.readKey(e)
	case !(e.Type.Kind == types.Float || e.Args[0].TestsText()) || !(late{b.code}).stable(e):
		return b.choose(e)
	}
	v, ok := b.cache.Get(key)
	if !ok {
		v = b.choose(e)
		b.remember(key, v)
	}
	return v
}

func (b exprs) choose(e *tree.Expr) val {
	if v, ok := b.orAbsent(e); ok {
		return v
	}
	if isText(e.Type.Kind) && ordersText(e.Args[0]) {
		if b.ordered++; b.ordered > 1 {
			return b.chooseCopy(e)
		}
	}
	then, els := b.NewBlock(), b.NewBlock()
	b.cond(e.Args[0], then, els)
	j := b.newJoin(e.Type)
	saved := b.save()
	b.Begin(then)
	b.jumpWith(j, b.expr(e.Args[1]))
	b.restore(saved)
	b.Begin(els)
	b.jumpWith(j, b.expr(e.Args[2]))
	return b.enter(j)
}

// ordersText reports whether a condition orders two texts, byte by byte, as those of min and max do.
func ordersText(e *tree.Expr) bool {
	return e.Op >= tree.OpLt && e.Op <= tree.OpGe && isText(e.Args[0].Type.Kind)
}

// chooseCopy is choose of a text, which is copied to memory of its own. Else the verifier would follow all that is
// behind the join once for each text that can come there, and the loop of the next comparison, too: of max() in max()
// in max() some hundred thousand instructions.
func (b exprs) chooseCopy(e *tree.Expr) val {
	room := layout.StringRoom(e.Type.Cap)
	m := b.allocText(room)
	then, els := b.NewBlock(), b.NewBlock()
	b.cond(e.Args[0], then, els)
	pair := types.TupleOf(types.U64, types.U64)
	j := b.newJoin(pair)
	saved := b.save()
	for i, way := range []*ir.Block{then, els} {
		b.restore(saved)
		b.Begin(way)
		if v := b.convert(b.expr(e.Args[1+i]), e.Type); b.Reached() {
			copies{b.code}.copyBytes(b.addr(m, 0), v.s, room)
			b.jumpWith(j, pairOf(pair, b.strLen(v.s), b.strFlags(v.s)))
		}
	}
	v := b.enter(j)
	n, flags := loops(b).forget(v.elems[0].x), loops(b).forget(v.elems[1].x)
	b.unless(ir.UGT, n, int64(room), b.ret) // never; the verifier wants it where a longer text joins this one
	return val{t: e.Type, s: &str{mem: m, room: room, n: n, flags: flags}}
}

// faultOf says in words what a FAULT of e is.
func faultOf(e *tree.Expr) string {
	if e.Op == tree.OpUnreadable && e.Int == tree.Lost {
		return "a value that the compiler has optimized out"
	}
	if e.Op == tree.OpUnreadable && e.Int == tree.Unshown {
		return "a part that is no value"
	}
	if e.Op == tree.OpUnreadable {
		return "a floating-point number, which is in a register that eBPF programs cannot read,"
	}
	return "FAULT"
}

// present is OpPresent: v without its tag, or the handler's end.
func (b exprs) present(e *tree.Expr) val {
	v := b.expr(e.Args[0])
	if v.t.MayNone || v.t.Kind == types.None {
		b.refuseAbsent(v, wire.TagNone, "None where "+e.Str+" was wanted")
	}
	if v.t.MayFault {
		b.refuseAbsent(v, wire.TagFault, faultOf(e.Args[0])+" where "+e.Str+" was wanted")
	}
	return b.assume(v, e.Type)
}

// withSign is OpSigned.
func (b exprs) withSign(e *tree.Expr) val {
	x := b.expr(e.Args[0]).x
	b.unless(ir.SLT, x, 0, func() { b.errorSite(e.Str + " of 2^63 or more") })
	return intVal(e.Type, x)
}

func (b exprs) refuseAbsent(v val, tag int64, what string) {
	bad, on := b.NewBlock(), b.NewBlock()
	from := b.Cur
	b.isAbsent(v, tag, bad, on)
	if from.Term.Kind == ir.Branch {
		b.Likely(2, from)
	}
	b.Begin(bad)
	b.errorSite(what)
	b.Begin(on)
}

// assume takes the tag away from v.
func (b exprs) assume(v val, t types.Type) val {
	if v.t.Kind == types.None {
		return b.absent(t, wire.TagPresent)
	}
	v.t.MayNone, v.t.MayFault = v.t.MayNone && t.MayNone, v.t.MayFault && t.MayFault
	if !hasTag(v.t) {
		v.tag = nil
	}
	if v.s != nil && v.s.flags != nil {
		s := *v.s
		s.flags = b.Imm(ir.OpAnd, s.flags, flagsOf(v.t))
		v.s = &s
	}
	return b.convert(v, t)
}

// flagsOf are the flags that a string of type t can have.
func flagsOf(t types.Type) int64 {
	flags := int64(wire.RefCut)
	if t.MayNone {
		flags |= wire.RefNone
	}
	if t.MayFault {
		flags |= wire.RefFault
	}
	return flags
}
