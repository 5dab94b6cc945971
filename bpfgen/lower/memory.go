package lower

import "github.com/startrace/startrace/bpfgen/ir"

// Zeroing and copying of memory, word by word.

// zero stores words of 0; the last one is v itself.
func (l *lowerer) zero(v *ir.Value) {
	dst, n, nought := v.Args[0], v.Imm, l.konst(0)
	for off := int64(0); off < n-8; off += 8 {
		l.add(ir.OpStore64, dst, nought).Imm = off
	}
	l.become(v, ir.OpStore64, n-8, dst, nought)
}

// copy moves words.
func (l *lowerer) copy(v *ir.Value) {
	dst, src, n := v.Args[0], v.Args[1], v.Imm
	for off := int64(0); off < n; off += 8 {
		x := l.add(ir.OpLoad64, src)
		x.Imm = off
		if off == n-8 {
			l.become(v, ir.OpStore64, off, dst, x)
			return
		}
		l.add(ir.OpStore64, dst, x).Imm = off
	}
}
