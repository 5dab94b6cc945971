package build

import (
	"strings"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
)

// compareStr branches on a comparison of strings.
func (b *builder) compareStr(e *tree.Expr, then, els *ir.Block) {
	x, y := b.expr(e.Args[0]), b.expr(e.Args[1])
	switch e.Op {
	case tree.OpEq:
		b.equalStrs(x, y, then, els)
	case tree.OpNe:
		b.equalStrs(x, y, els, then)
	case tree.OpLt:
		b.orderStrs(x.s, y.s, then, els)
	case tree.OpGt:
		b.orderStrs(y.s, x.s, then, els)
	case tree.OpLe:
		b.orderStrs(y.s, x.s, els, then)
	case tree.OpGe:
		b.orderStrs(x.s, y.s, els, then)
	}
}

func (b *builder) equalStrs(x, y val, then, els *ir.Block) {
	switch {
	case x.s.konst != nil:
		b.equalConst(y.s, *x.s.konst, then, els)
	case y.s.konst != nil:
		b.equalConst(x.s, *y.s.konst, then, els)
	default:
		same := b.f.NewBlock()
		n, ny := b.strLen(x.s), b.strLen(y.s)
		b.branch(ir.EQ, n, ny, same, els)
		b.begin(same)
		b.walkPair(x.s, y.s, n, then, func(cx, cy *ir.Value, next *ir.Block) {
			b.branch(ir.EQ, cx, cy, next, els)
		})
	}
}

// equalConst compares with a constant, word by word.
func (b *builder) equalConst(s *str, c string, then, els *ir.Block) {
	switch {
	case s.konst != nil:
		b.cond(constBool(*s.konst == c), then, els)
	case len(c) >= s.room:
		b.cond(constBool(false), then, els)
	case s.n == nil: // padded with NULs, which are compared too
		b.equalBytes(func(off int64) (*ir.Value, int64) { return b.strAddr(s, 0), off }, pad(c), els)
		b.cond(constBool(true), then, els)
	default:
		on := b.f.NewBlock()
		b.branchImm(ir.EQ, s.n, int64(len(c)), on, els)
		b.begin(on)
		b.equalBytes(func(off int64) (*ir.Value, int64) { return b.strAddr(s, 0), off }, c, els)
		b.cond(constBool(true), then, els)
	}
}

// equalBytes goes to els where the memory differs from c; at gives address
// and offset of byte off.
func (b *builder) equalBytes(at func(off int64) (*ir.Value, int64), c string, els *ir.Block) {
	b.equalUnits(at, c, 8, els)
}

// equalUnits does it in pieces of at most unit bytes.
func (b *builder) equalUnits(at func(off int64) (*ir.Value, int64), c string, unit int, els *ir.Block) {
	for i := 0; i < len(c); {
		size := unit
		for size > len(c)-i {
			size /= 2
		}
		addr, off := at(int64(i))
		x := b.load(size, addr, off)
		next := b.f.NewBlock()
		b.branchImm(ir.EQ, x, word(c[i:i+size]), next, els)
		b.begin(next)
		i += size
	}
}

// stringTest branches on startswith, endswith, contains and matches.
func (b *builder) stringTest(e *tree.Expr, then, els *ir.Block) {
	s, c := b.expr(e.Args[0]).s, e.Args[1].Str
	if s.konst != nil {
		b.cond(constBool(constTest(e.Op, *s.konst, c)), then, els)
		return
	}
	switch e.Op {
	case tree.OpStartsWith:
		b.startsWith(s, c, then, els)
	case tree.OpEndsWith:
		b.endsWith(s, c, then, els)
	case tree.OpContains:
		b.automaton(s, []pattern{b.containsPattern(c)}, then, els)
	case tree.OpMatches:
		b.automaton(s, b.patterns(c), then, els)
	}
}

func constTest(op tree.Op, s, c string) bool {
	switch op {
	case tree.OpStartsWith:
		return strings.HasPrefix(s, c)
	case tree.OpEndsWith:
		return strings.HasSuffix(s, c)
	case tree.OpContains:
		return strings.Contains(s, c)
	}
	g, err := kernel.CompileGlob(c)
	return err == nil && g.Match(s)
}

func (b *builder) startsWith(s *str, c string, then, els *ir.Block) {
	if len(c) >= s.room {
		b.cond(constBool(false), then, els)
		return
	}
	if s.n != nil {
		on := b.f.NewBlock()
		b.branchImm(ir.UGE, s.n, int64(len(c)), on, els)
		b.begin(on)
	}
	b.equalBytes(func(off int64) (*ir.Value, int64) { return b.strAddr(s, 0), off }, c, els)
	b.cond(constBool(true), then, els)
}

// endsWith tests the length against the room too: it is an offset then. The
// verifier wants accesses to the stack aligned, so bytes are compared there.
func (b *builder) endsWith(s *str, c string, then, els *ir.Block) {
	if len(c) >= s.room {
		b.cond(constBool(false), then, els)
		return
	}
	n := b.saneLen(b.strLen(s))
	long, on := b.f.NewBlock(), b.f.NewBlock()
	b.branchImm(ir.UGE, n, int64(len(c)), long, els)
	b.begin(long)
	b.branchImm(ir.ULE, n, int64(s.room), on, els)
	b.begin(on)
	end := b.op(ir.OpAdd, b.strAddr(s, 0), n)
	unit := 1
	if s.mem != nil && s.mem.slot == nil {
		unit = 8
	}
	b.equalUnits(func(off int64) (*ir.Value, int64) { return end, off - int64(len(c)) }, c, unit, els)
	b.cond(constBool(true), then, els)
}

// orderStrs branches on x < y, bytewise.
func (b *builder) orderStrs(x, y *str, then, els *ir.Block) {
	nx, ny := b.strLen(x), b.strLen(y)
	t := types.I64
	j := b.newJoin(t)
	shorter, longer := b.f.NewBlock(), b.f.NewBlock()
	b.branch(ir.ULT, nx, ny, shorter, longer)
	b.begin(shorter)
	b.jumpWith(j, intVal(t, nx))
	b.begin(longer)
	b.jumpWith(j, intVal(t, ny))
	n := b.enter(j).x
	end := b.f.NewBlock()
	b.walkPair(x, y, n, end, func(cx, cy *ir.Value, next *ir.Block) {
		differ := b.f.NewBlock()
		b.branch(ir.EQ, cx, cy, next, differ)
		b.begin(differ)
		b.branch(ir.ULT, cx, cy, then, els)
	})
	b.begin(end)
	b.branch(ir.ULT, nx, ny, then, els)
}

// loopBound is the length n for the test of a loop. What the test teaches the
// verifier must not be about n itself: it would follow each way out of the
// loop apart, to the end of the program. Loops have masks of their own, so
// that they do not share one value either.
func (b *builder) loopBound(n *ir.Value) *ir.Value {
	const least, most = 14, 31 // bits; a length has 13
	mask := int64(1)<<(least+b.bounds%(most-least)) - 1
	b.bounds++
	return b.imm(ir.OpAnd, n, mask)
}

// walkPair goes through the first n bytes of two strings, then to done.
func (b *builder) walkPair(x, y *str, n *ir.Value, done *ir.Block, f func(cx, cy *ir.Value, next *ir.Block)) {
	room := int64(min(x.room, y.room))
	n = b.loopBound(n)
	head := b.f.NewBlock()
	b.cur.Jump(b.pos, head, b.konst(0))
	b.reach(head)
	k := head.Param(b.pos)
	b.begin(head)
	body, bounded, next := b.f.NewBlock(), b.f.NewBlock(), b.f.NewBlock()
	b.branch(ir.ULT, k, n, body, done)
	b.begin(body)
	b.branchImm(ir.ULT, k, room, bounded, done)
	b.begin(bounded)
	cx := b.load(1, b.op(ir.OpAdd, b.strAddr(x, 0), k), 0)
	cy := b.load(1, b.op(ir.OpAdd, b.strAddr(y, 0), k), 0)
	f(cx, cy, next)
	b.begin(next)
	b.cur.Jump(b.pos, head, b.imm(ir.OpAdd, k, 1))
}

// scanLen counts the bytes before the first NUL of padded memory. A comm is
// short; longer memory is read onto itself by a helper, which gives the length:
// of a loop the verifier would follow each length apart, to the end of the
// program.
func (b *builder) scanLen(s *str) *ir.Value {
	if s.mem == nil || s.room <= types.Comm.Cap {
		return b.scanShort(s)
	}
	at := b.strAddr(s, 0)
	rc := b.call(helperProbeReadKernelStr, at, b.konst(int64(s.room)), at)
	j := b.newJoin(types.U64)
	b.unless(ir.SLT, rc, 1, func() { b.jumpWith(j, intVal(types.U64, b.konst(0))) })
	b.jumpWith(j, intVal(types.U64, b.add(rc, -1)))
	return b.enter(j).x
}

func (b *builder) scanShort(s *str) *ir.Value {
	head, body, next := b.f.NewBlock(), b.f.NewBlock(), b.f.NewBlock()
	j := b.newJoin(types.U64)
	b.cur.Jump(b.pos, head, b.konst(0))
	b.reach(head, body, next)
	k := head.Param(b.pos)
	b.begin(head)
	full := b.f.NewBlock()
	b.branchImm(ir.ULT, k, int64(s.room), body, full)
	b.begin(full)
	b.jumpWith(j, intVal(types.U64, b.konst(int64(s.room))))
	b.begin(body)
	c := b.load(1, b.op(ir.OpAdd, b.strAddr(s, 0), k), 0)
	nul := b.f.NewBlock()
	b.branchImm(ir.EQ, c, 0, nul, next)
	b.begin(nul)
	b.jumpWith(j, intVal(types.U64, k))
	b.begin(next)
	b.cur.Jump(b.pos, head, b.imm(ir.OpAdd, k, 1))
	return b.enter(j).x
}
