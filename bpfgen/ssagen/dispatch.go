package ssagen

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// The search for the variant of a system call by its number.

// A segment is a range of system call numbers with one body: from lo up to
// the next segment. variant -1: the program ends.
type segment struct {
	lo      int64
	variant int
}

// variants runs the body for the system call, found by binary search over
// constants.
func (b variants) variants(list []tree.Variant) {
	if len(list) == 0 {
		return
	}
	segs := b.segments(list, b.mergeVariants(list))
	blocks, ways := map[int]*ir.Block{}, map[int]int{}
	for _, s := range segs {
		ways[s.variant]++
		if blocks[s.variant] == nil {
			blocks[s.variant] = b.NewBlock()
		}
	}
	nr := calls{b.code}.syscallNr()
	again := b.forgetShort(nr)
	b.search(nr, segs, blocks)
	done := b.newJoin(types.Type{})
	for i := -1; i < len(list); i++ {
		blk := blocks[i]
		if blk == nil {
			continue
		}
		b.restore(done.saved)
		b.entry = nil
		b.Begin(blk)
		if b.syscall = nr; ways[i] > 1 {
			b.syscall = again()
		}
		if i >= 0 && list[i].Call != "" {
			b.tailCall(list[i].Call)
		} else if i >= 0 {
			b.alone(func() { b.block(list[i].Body) })
		}
		b.jump(done)
	}
	b.syscall = nr
	b.enter(done)
}

// forgetShort puts a number below 65536 where the verifier forgets what it knows
// of it: in a part of a word of the stack that no register is spilled to. A
// body that several ways lead to is then the same to it on each of them, and
// verified once.
func (b variants) forgetShort(x *ir.Value) func() *ir.Value {
	m := b.alloc(8)
	b.Store(2, b.addr(m, 2), 0, x)
	return func() *ir.Value { return b.Load(2, b.addr(m, 2), 0) }
}

// tailCall goes on in another program. It comes back only if that is not
// there, which cannot be.
func (b variants) tailCall(name string) {
	i := slices.Index(b.Tails, name)
	if i < 0 {
		i = len(b.Tails)
		b.Tails = append(b.Tails, name)
	}
	b.Call(helperTailCall, b.ctx(), b.MapPtr(tree.MapTails), b.Const(int64(i)))
	b.ret()
}

// segments gives the ranges. Numbers that the filter before let through are
// all that can occur; where there was none, gaps belong to the variant for
// all numbers, or to none.
func (b variants) segments(list []tree.Variant, same []int) []segment {
	numbers := calls{b.code}.covered()
	open := numbers == nil
	if open {
		for _, v := range list {
			for _, n := range v.Syscalls {
				numbers = append(numbers, n, n+1)
			}
		}
		numbers = append(numbers, 0)
		slices.Sort(numbers)
		numbers = slices.Compact(numbers)
	}
	var out []segment
	for _, n := range numbers {
		v := variantOf(list, n)
		if v >= 0 {
			v = same[v]
		}
		if len(out) == 0 || out[len(out)-1].variant != v {
			out = append(out, segment{int64(n), v})
		}
	}
	return out
}

// search branches to the block of nr's segment.
func (b variants) search(nr *ir.Value, segs []segment, blocks map[int]*ir.Block) {
	if len(segs) == 1 {
		to := blocks[segs[0].variant]
		b.Jump(to)
		return
	}
	mid := len(segs) / 2
	below, above := b.NewBlock(), b.NewBlock()
	b.BranchImm(ir.ULT, nr, segs[mid].lo, below, above)
	b.Begin(below)
	b.search(nr, segs[:mid], blocks)
	b.Begin(above)
	b.search(nr, segs[mid:], blocks)
}
