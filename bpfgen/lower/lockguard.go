package lower

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
)

// Guards of programs at functions that lock tables or rings, so that a program does not wait for itself.
//
// Locks of tables and rings are functions of the kernel, and so are those that run with such a lock. A program that
// stands at one of them can run below another one that has a lock of the same table: it would wait for ever. The kernel
// keeps kprobes from running below each other, but not below programs at raw tracepoints and trampolines.
//
// So where a unit has such a program, all others count on their CPU in how many calls they are that take a lock (Hold),
// and that program ends before it would take one while there are any (Ask), which is counted as a loss. A thread that
// is preempted between the count and the lock makes others on that CPU end in vain, which is counted, too.

// A Guard is a program's part in this.
type Guard uint8

// The parts; most units need none.
const (
	GuardNone Guard = iota
	GuardHold
	GuardAsk
)

// GuardWords is how many words MapBusy has. CPUs that share a word end more often in vain.
const GuardWords = 1024

const (
	helperMapUpdate     = 2
	helperMapDelete     = 3
	helperProcessorID   = 8
	helperMapPush       = 87
	helperRingbufOutput = 130
	helperLoop          = 181
)

// locks reports whether a call takes a lock of a table or a ring.
func locks(v *ir.Value) bool {
	return v.Op == ir.OpCall && v.Sym == "" &&
		slices.Contains([]int64{helperMapUpdate, helperMapDelete, helperMapPush, helperRingbufOutput}, v.Imm)
}

// enters reports whether a call of a program leads to what locks, or may: subprograms do.
func enters(v *ir.Value) bool {
	return locks(v) || v.Op == ir.OpCall && (v.Sym != "" || v.Imm == helperLoop)
}

// guard puts the program's part around its calls. Subprograms do not ask: who calls them has.
func guard(f *ir.Func, o Options) {
	switch o.Guard {
	case GuardHold:
		for _, b := range f.Blocks {
			hold(f, b)
		}
	case GuardAsk:
		for _, b := range slices.Clone(f.Blocks) {
			ask(f, b, o.GuardSite)
		}
	}
}

// hold counts each call that locks in a block while it lasts.
func hold(f *ir.Func, b *ir.Block) {
	values := b.Values
	b.Values = nil
	for _, v := range values {
		if !locks(v) {
			b.Values = append(b.Values, v)
			continue
		}
		word := busyWord(b, v.Pos)
		add(b, v.Pos, word, 1)
		b.Values = append(b.Values, v)
		add(b, v.Pos, word, -1)
	}
}

// ask splits a block before its first call that may lock: the program ends there if one below it is in such a call. The
// first call decides for all of the block.
func ask(f *ir.Func, b *ir.Block, site int) {
	i := slices.IndexFunc(b.Values, enters)
	if i < 0 {
		return
	}
	pos := b.Values[i].Pos
	rest, end := f.NewBlock(), f.NewBlock()
	rest.Values, rest.Term = slices.Clone(b.Values[i:]), b.Term
	for _, v := range rest.Values {
		v.Block = rest
	}
	b.Values = b.Values[:i]
	busy := b.AddImm(ir.OpLoad64, pos, 0, busyWord(b, pos))
	b.BranchImm(pos, ir.EQ, busy, 0, ir.Edge{Block: rest}, ir.Edge{Block: end})
	b.Term.Likely = 1
	end.AddImm(ir.OpCountSite, pos, int64(site))
	end.Ret(pos, nil)
}

// busyWord is the address of the word of this CPU.
func busyWord(b *ir.Block, pos ir.Pos) *ir.Value {
	cpu := b.AddImm(ir.OpCall, pos, helperProcessorID)
	words := b.AddImm(ir.OpMapValue, pos, 0)
	words.Sym = tree.MapBusy
	return b.Add(ir.OpAdd, pos, words, b.AddImm(ir.OpShl, pos, 3, b.AddImm(ir.OpAnd, pos, GuardWords-1, cpu)))
}
