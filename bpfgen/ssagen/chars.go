package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
)

// The text in a char[n] that registers hold.

// sevenBits are the lower seven bits of each byte of a word.
const sevenBits = 0x7f7f7f7f7f7f7f7f

// chars is OpChars: its words, without what lies behind the first NUL, in memory that is padded with NULs.
//
// Both architectures have the first byte of a text in the lowest bits of a word. So the bytes before the first NUL are
// below the lowest bit of nuls, which has the highest bit of each byte that is 0 and no other one:
//
//	"ab\0c"   x     63 00 62 61
//	          nuls  00 80 00 00
//	x & (nuls & -nuls) - 1 = 00 00 62 61
func (b texts) chars(e *tree.Expr) val {
	s := &str{room: layout.StringRoom(e.Type.Cap)}
	s.mem = b.allocText(s.room)
	var ended *ir.Value // not 0: a word before had a NUL
	for off := 0; off < s.room; off += 8 {
		x := b.Const(0)
		if i := off / 8; i < len(e.Args) {
			x = b.number(e.Args[i])
			nuls := b.nuls(x)
			first := b.Op(ir.OpAnd, nuls, b.Op(ir.OpNeg, nuls))
			x = b.Op(ir.OpAnd, x, b.Add(first, -1))
			if ended != nil {
				x = b.Op(ir.OpMul, x, b.Cmp(ir.EQ, ended, b.Const(0)))
				nuls = b.Op(ir.OpOr, nuls, ended)
			}
			ended = nuls
		}
		b.Store(8, b.addr(s.mem, int64(off)), 0, x)
	}
	return val{t: e.Type, s: s}
}

// nuls has the highest bit of each byte of x that is 0.
func (b texts) nuls(x *ir.Value) *ir.Value {
	others := b.Op(ir.OpAdd, b.Op(ir.OpAnd, x, b.Const(sevenBits)), b.Const(sevenBits))
	others = b.Op(ir.OpOr, b.Op(ir.OpOr, others, x), b.Const(sevenBits))
	return b.Op(ir.OpXor, others, b.Const(-1))
}
