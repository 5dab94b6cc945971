package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
)

// Which of two strings comes first, by bpf_loop.
//
// Where the kernel has bpf_loop it finds which of two strings comes first: it goes from byte to byte, and its verifier
// follows a few of them. A loop of the program's own the verifier would follow byte by byte, and all of it again for
// each thing that it knows of the two strings: that one could not be read, or that it was cut. Of a max() in a max() of
// strings that may be several things each, that would be more than it follows at all.

// orders writes comparisons by which of two strings comes first.
type orders struct{ *generator }

// The words that the function of one byte is given.
const (
	orderX = 8 * iota
	orderY
	orderState // the address of the result, which is 0 before
	orderLenX
	orderLenY
)

// byKernel reports whether the kernel goes through the strings that e compares.
func (b orders) byKernel(e *tree.Expr) bool {
	return ordersText(e) && lists(b).kernelRuns()
}

// compare branches on a comparison by order.
func (b orders) compare(e *tree.Expr, then, els *ir.Block) {
	x, y := b.expr(e.Args[0]).s, b.expr(e.Args[1]).s
	if e.Op == tree.OpGt || e.Op == tree.OpLe {
		x, y = y, x
	}
	if e.Op == tree.OpLe || e.Op == tree.OpGe {
		then, els = els, then
	}
	b.BranchImm(ir.NE, b.isBelow(x, y), 0, then, els)
}

// isBelow is 1 where x comes before y, and 0 elsewhere.
func (b orders) isBelow(x, y *str) *ir.Value {
	room := min(x.room, y.room)
	sub := b.ordering[room]
	if sub == nil {
		sub = b.oneByte(room)
		if b.ordering == nil {
			b.ordering = map[int]*subprogram{}
		}
		b.ordering[room] = sub
		b.reports = append(b.reports,
			Call{Name: loopName, Pos: b.Pos, Times: 1, Sub: sub.f.Name, Rounds: int64(room) + 1})
	}
	nx, ny := b.strLen(x), b.strLen(y)
	state := b.allocScratch(8)
	b.Store(8, b.addr(state, 0), 0, b.Const(0))
	lists(b).callRounds(sub, room+1, b.strAddr(x, 0), b.strAddr(y, 0), b.addr(state, 0), nx, ny)
	result := b.Load(8, b.addr(state, 0), 0)
	b.release(state)
	return result
}

// oneByte is the function that the kernel calls for each byte of two strings, of which one has at most room bytes. It
// gives 0 to go on and 1 where the result is known. Each length has a test of its own, as in walkPair.
func (b orders) oneByte(room int) *subprogram {
	f, k, words := lists(b).perString("order")
	nx, ny := f.loopBound(f.Load(8, words, orderLenX)), f.loopBound(f.Load(8, words, orderLenY))
	end, next := f.NewBlock(), f.NewBlock()
	on := func(c ir.Cond, x, y *ir.Value, other *ir.Block) {
		is := f.NewBlock()
		f.Branch(c, x, y, is, other)
		f.Begin(is)
	}
	for _, n := range []*ir.Value{nx, ny, f.Const(int64(room))} {
		on(ir.ULT, k, n, end)
	}
	cx := f.Load(1, f.Op(ir.OpAdd, f.Load(8, words, orderX), k), 0)
	cy := f.Load(1, f.Op(ir.OpAdd, f.Load(8, words, orderY), k), 0)
	on(ir.NE, cx, cy, next)
	leaveOrder(f.code, words, cx, cy)
	f.Begin(next)
	f.Ret(nil)
	f.Begin(end)
	leaveOrder(f.code, words, nx, ny)
	return perStringMade(f)
}

// leaveOrder ends the function of one byte: x and y say which of the two strings comes first.
func leaveOrder(b *code, words, x, y *ir.Value) {
	first, not := b.NewBlock(), b.NewBlock()
	b.Branch(ir.ULT, x, y, first, not)
	b.Begin(first)
	b.Store(8, b.Load(8, words, orderState), 0, b.Const(1))
	b.Ret(b.Const(1))
	b.Begin(not)
	b.Ret(b.Const(1))
}
