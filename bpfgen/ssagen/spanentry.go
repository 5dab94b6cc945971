package ssagen

import (
	"strconv"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
)

// The entries of spans: their word that says whether they are open, their age, ends without a start.

// entries reads and writes what all kinds of spans have in their entries.
type entries struct{ *code }

// busyWord is what the busy word of an entry holds while it is open; it is never 0. In spans of the script it is the
// time of the start in ns, for span.items() and for the timeout. In spans of system calls it is the number of the call
// and 1, with what registerMix makes of its registers above layout.SyscallBits, so that an end does not take the entry
// of another call whose end was missed.
func (b entries) busyWord() *ir.Value {
	if !b.isSyscall() {
		return b.helperOnce("time_raw", helperKtimeGetNS)
	}
	word := b.Imm(ir.OpAdd, calls(b).syscallNr(), 1)
	span, _ := b.span()
	if len(span.Check) == 0 {
		return word
	}
	return b.Op(ir.OpAdd, word, b.Imm(ir.OpShl, b.registerMix(span), layout.SyscallBits))
}

// registerMix is a number made of the registers in span.Check, 0 for the
// calls that are exempt.
func (b entries) registerMix(span *tree.Span) *ir.Value {
	mix := b.Const(0)
	for _, off := range span.Check {
		mix = b.Op(ir.OpAdd, b.Imm(ir.OpMul, mix, 31), registers(b).register(strconv.Itoa(off)))
	}
	for _, nr := range span.Exempt {
		other := b.Cmp(ir.NE, calls(b).syscallNr(), b.Const(int64(nr)))
		mix = b.Op(ir.OpAnd, mix, b.Op(ir.OpNeg, other))
	}
	return mix
}

// spanFiltered marks the end of a span whose start has a filter: an end
// without a start is then usual.
const spanFiltered = "filtered"

// noStart ends the program at an end without a start.
func (b entries) noStart(s *tree.Stmt) {
	if s.Str != spanFiltered {
		b.endLost(tree.SiteOrphanEnd, s.Else)
	}
	b.ret()
}

// endLost counts an end that gives no event, and ends the program; traced,
// where there is one, ends it before if nobody waits for the event.
func (b entries) endLost(kind tree.SiteKind, traced *tree.Block) {
	if traced != nil {
		b.block(traced)
	}
	b.countSpan(kind)
	b.ret()
}

// age is the time since the start of the entry at p in ns. Where the highest bit of the busy word is a mark
// (layout.SpanMuted), that is left out.
func (b entries) age(span *tree.Span, p *ir.Value) *ir.Value {
	now, began := b.helperOnce("time_raw", helperKtimeGetNS), b.Load(8, p, layout.SpanBusy)
	if span.Muted {
		began = b.Imm(ir.OpLShr, b.Imm(ir.OpShl, began, 1), 1)
	}
	return b.Op(ir.OpSub, now, began)
}

// expire ends the program if an entry is too old to pair.
func (b entries) expire(span *tree.Span, age *ir.Value, traced *tree.Block) {
	b.unless(ir.SGE, age, span.Timeout, func() { b.endLost(tree.SiteTimeout, traced) })
}

// storeEntry stores an entry and gives what the update returned, 0 or a negative error, in 64 bits. Only the lower 32
// bits of R0 are sure to be the result before 6.4.
func (b entries) storeEntry(name string, key, entry *region, flags int64) *ir.Value {
	rc := b.Call(helperMapUpdate, b.MapPtr(name), b.addr(key, 0), b.addr(entry, 0), b.Const(flags))
	return b.Extend(rc, 32, true)
}
