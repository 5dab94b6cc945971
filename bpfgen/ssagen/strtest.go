package ssagen

import (
	"strings"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/naming"
)

// Tests of strings: `==`, startswith, endswith, in, order, with constants word by word.

// compareStr branches on a comparison of strings.
func (b texts) compareStr(e *tree.Expr, then, els *ir.Block) {
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

// equalStrs branches on whether two strings are equal: words against a constant, else byte by byte.
func (b texts) equalStrs(x, y val, then, els *ir.Block) {
	switch {
	case x.s.konst != nil:
		b.equalConst(y.s, *x.s.konst, then, els)
	case y.s.konst != nil:
		b.equalConst(x.s, *y.s.konst, then, els)
	default:
		same := b.NewBlock()
		n, ny := b.strLen(x.s), b.strLen(y.s)
		b.Branch(ir.EQ, n, ny, same, els)
		b.Begin(same)
		b.walkPair(x.s, y.s, []*ir.Value{n}, then, func(cx, cy *ir.Value, next *ir.Block) {
			b.Branch(ir.EQ, cx, cy, next, els)
		})
	}
}

// equalConst compares with a constant, word by word.
func (b texts) equalConst(s *str, c string, then, els *ir.Block) {
	switch {
	case s.konst != nil:
		b.cond(constBool(*s.konst == c), then, els)
	case s.isShorter(c):
		b.cond(constBool(false), then, els)
	case s.n == nil && strings.IndexByte(c, 0) >= 0:
		b.cond(constBool(false), then, els)
	case s.n == nil: // padded with NULs, which are compared too
		b.equalBytes(func(off int64) (*ir.Value, int64) { return b.strAddr(s, 0), off }, pad(c), els)
		b.cond(constBool(true), then, els)
	default:
		b.longEnough(s, len(c), els)
		on := b.NewBlock()
		b.BranchImm(ir.EQ, s.n, int64(len(c)), on, els)
		b.Begin(on)
		b.equalBytes(func(off int64) (*ir.Value, int64) { return b.strAddr(s, 0), off }, c, els)
		b.cond(constBool(true), then, els)
	}
}

// longEnough goes to els where s is shorter than n bytes, before its length is compared with n. A string that came to a
// join can have less memory than its room, and then its length is never n. Older verifiers (5.10) do not conclude that
// from the range of the length, and follow the way on which it is n into memory that is not there; of < they know it.
func (b texts) longEnough(s *str, n int, els *ir.Block) {
	if s.mem != nil {
		return
	}
	long := b.NewBlock()
	b.BranchImm(ir.UGE, s.n, int64(n), long, els)
	b.Begin(long)
}

// isShorter reports whether s has less room than a constant. Bytes may fill all of their room; a string without a
// length has a NUL behind it.
func (s *str) isShorter(c string) bool { return len(c) > s.room || len(c) == s.room && s.n == nil }

// equalBytes goes to els where the memory differs from c; at gives address
// and offset of byte off.
func (b texts) equalBytes(at func(off int64) (*ir.Value, int64), c string, els *ir.Block) {
	b.equalUnits(at, c, 8, els)
}

// equalUnits does it in pieces of at most unit bytes.
func (b texts) equalUnits(at func(off int64) (*ir.Value, int64), c string, unit int, els *ir.Block) {
	for i := 0; i < len(c); {
		size := unit
		for size > len(c)-i {
			size /= 2
		}
		addr, off := at(int64(i))
		x := b.Load(size, addr, off)
		next := b.NewBlock()
		b.BranchImm(ir.EQ, x, word(c[i:i+size]), next, els)
		b.Begin(next)
		i += size
	}
}

// stringTest branches on startswith, endswith, contains and matches.
func (b texts) stringTest(e *tree.Expr, then, els *ir.Block) {
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

// constTest is the test of a constant.
func constTest(op tree.Op, s, c string) bool {
	switch op {
	case tree.OpStartsWith:
		return strings.HasPrefix(s, c)
	case tree.OpEndsWith:
		return strings.HasSuffix(s, c)
	case tree.OpContains:
		return strings.Contains(s, c)
	}
	g, err := naming.Compile(c)
	return err == nil && g.Match(s)
}

// startsWith compares the first bytes, word by word.
func (b texts) startsWith(s *str, c string, then, els *ir.Block) {
	if s.isShorter(c) || s.n == nil && strings.IndexByte(c, 0) >= 0 { // a NUL there is padding
		b.cond(constBool(false), then, els)
		return
	}
	if s.n != nil {
		on := b.NewBlock()
		b.BranchImm(ir.UGE, s.n, int64(len(c)), on, els)
		b.Begin(on)
	}
	b.equalBytes(func(off int64) (*ir.Value, int64) { return b.strAddr(s, 0), off }, c, els)
	b.cond(constBool(true), then, els)
}

// endsWith tests the length against the room too: it is an offset then. The
// verifier wants accesses to the stack aligned, so bytes are compared there.
func (b texts) endsWith(s *str, c string, then, els *ir.Block) {
	if s.isShorter(c) {
		b.cond(constBool(false), then, els)
		return
	}
	n := copies(b).saneLen(b.strLen(s))
	long, on := b.NewBlock(), b.NewBlock()
	b.BranchImm(ir.UGE, n, int64(len(c)), long, els)
	b.Begin(long)
	b.BranchImm(ir.ULE, n, int64(s.room), on, els)
	b.Begin(on)
	from, first := b.fromEnd(s, n, int64(len(c)))
	unit := 1
	if s.mem != nil && s.mem.slot == nil {
		unit = 8
	}
	b.equalUnits(func(off int64) (*ir.Value, int64) { return from, first + off }, c, unit, els)
	b.cond(constBool(true), then, els)
}

// byteAt is byte i of s, or of its end where i is below 0. Of a text that has not so many the handler ends.
func (b texts) byteAt(s *str, i int64) *ir.Value {
	missing := func() { b.errorSite("index behind the last byte") }
	n := copies(b).saneLen(b.strLen(s))
	if i >= 0 {
		b.unless(ir.ULE, n, i, missing)
		return b.Load(1, b.strAddr(s, 0), i)
	}
	b.unless(ir.ULT, n, -i, missing)
	b.unless(ir.UGT, n, int64(s.room), missing) // never; the verifier wants it
	from, first := b.fromEnd(s, n, -i)
	return b.Load(1, from, first)
}

// fromEnd is the address of the last so many bytes of s, whose length n has just been tested to be no less. It is no
// offset of the address of the end: that may have been computed behind the test of another number, and is one value
// with it, of which the verifier knows what was tested there.
//
//	s.endswith(".so") and s.endswith("/libc.so")    # the end is known to be 3 bytes behind the begin, or more
//
// The last byte is at such an offset all the same: the test for it is one for 0, of which the verifier of 5.10 learns
// nothing. The byte in front of a string is one of its length.
func (b texts) fromEnd(s *str, n *ir.Value, bytes int64) (at *ir.Value, off int64) {
	if bytes == 1 {
		return b.Op(ir.OpAdd, b.strAddr(s, 0), n), -1
	}
	return b.Op(ir.OpAdd, b.strAddr(s, 0), b.Imm(ir.OpSub, n, bytes)), 0
}

// orderStrs branches on x < y, bytewise.
func (b texts) orderStrs(x, y *str, then, els *ir.Block) {
	nx, ny := b.strLen(x), b.strLen(y)
	end := b.NewBlock()
	b.walkPair(x, y, []*ir.Value{nx, ny}, end, func(cx, cy *ir.Value, next *ir.Block) {
		differ := b.NewBlock()
		b.Branch(ir.EQ, cx, cy, next, differ)
		b.Begin(differ)
		b.Branch(ir.ULT, cx, cy, then, els)
	})
	b.Begin(end)
	b.Branch(ir.ULT, nx, ny, then, els)
}

// walkPair goes through the first bytes of two strings, as many as the least of the lengths, then to done. Each length
// has a test of its own: a string that came to a join can have less memory than its room, and that its length is
// shorter is what makes an access valid. Of the lesser of two lengths 5.10 does not know that it is below both.
func (b texts) walkPair(x, y *str, lengths []*ir.Value, done *ir.Block, f func(cx, cy *ir.Value, next *ir.Block)) {
	room := int64(min(x.room, y.room))
	bounds := make([]*ir.Value, len(lengths))
	for i, n := range lengths {
		bounds[i] = b.loopBound(n)
	}
	head, first := b.NewBlock(), len(b.Func.Blocks)
	b.Jump(head, b.Const(0))
	k := head.Param(b.Pos)
	b.Begin(head)
	bounded, next := b.NewBlock(), b.NewBlock()
	for _, n := range bounds {
		body := b.NewBlock()
		b.Branch(ir.ULT, k, n, body, done)
		b.Begin(body)
	}
	b.BranchImm(ir.ULT, k, room, bounded, done)
	b.Begin(bounded)
	cx := b.Load(1, b.Op(ir.OpAdd, b.strAddr(x, 0), k), 0)
	cy := b.Load(1, b.Op(ir.OpAdd, b.strAddr(y, 0), k), 0)
	f(cx, cy, next)
	b.Begin(next)
	b.Jump(head, b.Imm(ir.OpAdd, k, 1))
	goesRound(b.code, room, b.Func.Blocks[first:]...)
}
