package lower

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
)

// The logarithm for histograms, without branches, and its table.

// log2 is the bit length, without branches: all bits below the highest are
// set, which leaves 65 possible words; the top bits of a product tell them
// apart, and a table has the answers. Without a table the bits are counted
// (Hacker's Delight, 5-1), which takes 16 instructions more.
func (l *lowerer) log2(v *ir.Value) {
	x := v.Args[0]
	for _, k := range []int64{1, 2, 4, 8, 16, 32} {
		x = l.add(ir.OpOr, x, l.imm(ir.OpLShr, x, k))
	}
	if !l.o.HasLogTable {
		l.popcount(v, x)
		return
	}
	table := l.add(ir.OpMapValue)
	table.Sym, table.Imm = tree.MapConst, l.o.LogTable
	index := l.imm(ir.OpLShr, l.imm(ir.OpMul, x, logFactor), logShift)
	l.become(v, ir.OpLoad8, 0, l.add(ir.OpAdd, table, index))
}

func (l *lowerer) popcount(v, x *ir.Value) {
	const pairs, nibbles, bytes, ones = 0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f, 0x0101010101010101
	x = l.add(ir.OpSub, x, l.imm(ir.OpAnd, l.imm(ir.OpLShr, x, 1), pairs))
	three := l.konst(nibbles)
	x = l.add(ir.OpAdd, l.add(ir.OpAnd, x, three), l.add(ir.OpAnd, l.imm(ir.OpLShr, x, 2), three))
	x = l.imm(ir.OpAnd, l.add(ir.OpAdd, x, l.imm(ir.OpLShr, x, 4)), bytes)
	l.become(v, ir.OpLShr, 56, l.imm(ir.OpMul, x, ones))
}

// logFactor is a rotated de Bruijn sequence, found by trying: the 65 words
// 2^n-1, times it, have different top bits above logShift.
const (
	logFactor = 0x301ab23c5cedf425
	logShift  = 57
)

// LogTable is the table for OpLog2: at the index of the word 2^n-1 stands n.
func LogTable() string {
	var table [1 << (64 - logShift)]byte
	for n := range 65 {
		table[logIndex(1<<n-1)] = byte(n)
	}
	return string(table[:])
}

func logIndex(word uint64) uint64 { return word * logFactor >> logShift }

// NeedsLogTable reports whether f has an op that uses the table.
func NeedsLogTable(f *ir.Func) bool {
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if v.Op == ir.OpLog2 {
				return true
			}
		}
	}
	return false
}
