package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// Copies of strings to memory, and the name of the task (comm).

// copies writes the bytes of strings to memory.
type copies struct{ *code }

// copyStr copies the bytes of s to memory of its own. They may lie there already, since the last round of a loop: then
// they take another way, for copyCounted clears a piece of stack before it copies.
func (b copies) copyStr(s *str, t types.Type) *str {
	m := b.allocText(s.room)
	if m.slot != nil && s.mem == nil && s.n != nil {
		way := b.allocText(s.room)
		b.copyBytes(b.addr(way, 0), s, s.room)
		s = &str{mem: way, room: s.room, n: s.n, flags: s.flags}
		defer b.release(way)
	}
	out := &str{mem: m, room: s.room, n: s.n, flags: s.flags}
	b.copyBytes(b.addr(m, 0), s, s.room)
	return out
}

// copyBytes copies the bytes of s, at most room, to dst. What is known to be
// padded is copied as a whole, in words, and ends in a NUL; otherwise only the
// bytes that count, by a helper, for the length is not known.
func (b copies) copyBytes(dst *ir.Value, s *str, room int) {
	switch {
	case s.konst != nil:
		b.storeConst(dst, pad(*s.konst))
	case s.n == nil:
		b.OpImm(ir.OpCopy, int64(min(s.room, (room+7)&^7)), dst, b.strAddr(s, 0))
	default:
		b.copyCounted(dst, s, room)
	}
}

// copyCounted copies s.n bytes. The test is for the verifier: it does not know
// how long a string is that came over a join.
func (b copies) copyCounted(dst *ir.Value, s *str, room int) {
	b.clearStack(dst, room)
	j := b.newJoin(types.Type{})
	n := b.saneLen(s.n)
	b.unless(ir.UGT, n, int64(room), func() { b.jump(j) })
	b.Call(helperProbeReadKernel, dst, n, b.strAddr(s, 0))
	b.jump(j)
	b.enter(j)
}

// saneLen is the length n for use as an offset or a size, behind a test of its
// own. What comparisons have taught the verifier about n may contradict itself on
// a way that is never taken (more than 6 and less than 3), which it does not see;
// an address that such an offset was added to is no address any more to it
// (adjust_ptr_min_max_vals, kernel/bpf/verifier.c), and it refuses the program.
// An AND leaves nothing that contradicts.
func (b copies) saneLen(n *ir.Value) *ir.Value { return b.Imm(ir.OpAnd, n, wire.RefLen) }

// clearStack makes a piece of stack defined: a helper that writes a number of
// bytes that the verifier does not know must find it so before 6.3 ("invalid
// indirect read from stack").
func (b copies) clearStack(dst *ir.Value, room int) {
	if dst.Op != ir.OpSlot {
		return
	}
	for i := 0; i < room; {
		size := 1
		if (int(dst.Imm)+i)%8 == 0 && i+8 <= room {
			size = 8
		}
		b.Store(size, dst, int64(i), b.Const(0))
		i += size
	}
}

// storeConst writes constant bytes, a multiple of 8, to dst.
func (b copies) storeConst(dst *ir.Value, data string) {
	for i := 0; i < len(data); i += 8 {
		b.Store(8, dst, int64(i), b.Const(word(data[i:i+8])))
	}
}

// word gives up to 8 bytes as the number that they are in memory.
func word(s string) int64 {
	var w uint64
	for i := len(s) - 1; i >= 0; i-- {
		w = w<<8 | uint64(s[i])
	}
	return int64(w)
}

// commInto writes the name and NULs behind it. Some kernels do not pad: 6.1
// leaves what was there (strscpy in bpf_get_current_comm).
func (b copies) commInto(dst func() *ir.Value) {
	b.OpImm(ir.OpZero, commSize, dst())
	b.Call(helperGetCurrentComm, dst(), b.Const(commSize))
}

// commSize is TASK_COMM_LEN.
const commSize = 16
