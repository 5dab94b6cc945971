package ssagen

import (
	"slices"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
)

// Names of functions and points are numbers in programs. Where one stands beside other strings, as a key of a container
// that has keys of e.comm, too, its text is wanted: MapNames has those of the names of the unit and of all system
// calls. Of a call without a name the text is put together here: "syscall_" and its number.

// measureNames finds how long the texts of names are that programs want.
func (s *Shared) measureNames() {
	measure := func(e *tree.Expr) {
		if e.Op == tree.OpNameText {
			s.NameRoom = max(s.NameRoom, e.Type.Cap)
		}
	}
	for _, p := range s.Tree.Programs {
		for _, body := range p.Bodies() {
			tree.WalkBlock(body, func(*tree.Stmt) {}, measure)
		}
	}
	long := func(name string) bool { return len(name) >= s.NameRoom }
	s.NamesCut = slices.ContainsFunc(s.Tree.Names, long) ||
		slices.ContainsFunc(kernel.SyscallNames(), func(name string) bool { return long("syscall:" + name) })
}

// NameRows are the entries of MapNames: of the names of the unit, and of all system calls.
func (s *Shared) NameRows() (out []ebpf.MapKV) {
	seen := map[int64]bool{}
	add := func(n int64) {
		if text, ok := tree.NameOf(n, s.Tree.Names); ok && !seen[n] {
			seen[n] = true
			out = append(out, ebpf.MapKV{Key: uint64(n), Value: layout.NameRow(text, s.NameRoom)})
		}
	}
	for i := range s.Tree.Names {
		add(-int64(i) - 1)
	}
	for _, sc := range slices.Concat(kernel.Syscalls(), kernel.OtherSyscalls(), []kernel.Syscall{{Nr: kernel.NoCall}}) {
		n := int64(kernel.CallNumber(int64(kernel.NameNumber(sc.Nr))))
		add(n)
		add(n + tree.SyscallPoints)
	}
	return out
}

// nameText is OpNameText.
func (b texts) nameText(e *tree.Expr) val {
	b.Uses[tree.MapNames] = true
	n := b.expr(e.Args[0]).x
	key := b.alloc(8)
	b.Store(8, b.addr(key, 0), 0, n)
	p := b.Call(helperMapLookup, b.MapPtr(tree.MapNames), b.addr(key, 0))
	b.release(key)
	s := &str{room: layout.StringRoom(e.Type.Cap)}
	s.mem = b.allocText(s.room)
	j := b.newJoin(types.U64)
	b.unless(ir.EQ, p, 0, func() {
		b.nameless(e, n, s)
		b.jumpWith(j, intVal(types.U64, b.Const(0)))
	})
	b.OpImm(ir.OpCopy, int64(s.room), b.addr(s.mem, 0), b.Add(p, layout.NameText))
	b.jumpWith(j, intVal(types.U64, b.Load(8, p, 0)))
	if flags := b.enter(j).x; b.NamesCut {
		s.flags = flags
	}
	return val{t: e.Type, s: s}
}

// nameless is the text of a name that MapNames does not have.
func (b texts) nameless(e *tree.Expr, n *ir.Value, s *str) {
	unknown := func() { b.errorSite("a name that only user space knows") }
	if e.Int == 0 {
		unknown()
		return
	}
	b.unless(ir.SLT, n, 0, unknown)
	first, second := b.decimal(b.Extend(n, 32, true))
	j := b.newJoin(types.Type{})
	write := func(words ...*ir.Value) {
		for off := 0; off < s.room; off += 8 {
			x := b.Const(0)
			if i := off / 8; i < len(words) {
				x = words[i]
			}
			b.Store(8, b.addr(s.mem, int64(off)), 0, x)
		}
		b.jump(j)
	}
	call := b.Const(word("syscall_"))
	b.unless(ir.UGE, n, tree.SyscallPoints, func() { write(b.Const(word("syscall:")), call, first, second) })
	write(call, first, second)
	b.enter(j)
}

// decimal is a number of 32 bits, with its sign, as a text of two words. The first character is in the lowest bits, so
// the last digit comes first, and each that follows moves those before.
func (b texts) decimal(x *ir.Value) (first, second *ir.Value) {
	sign := b.Imm(ir.OpLShr, x, 63)
	left := b.Op(ir.OpAdd, b.Op(ir.OpXor, x, b.Op(ir.OpNeg, sign)), sign)
	first, second = b.Const(0), b.Const(0)
	push := func(char *ir.Value) {
		second = b.Op(ir.OpOr, b.Imm(ir.OpShl, second, 8), b.Imm(ir.OpLShr, first, 56))
		first = b.Op(ir.OpOr, b.Imm(ir.OpShl, first, 8), char)
	}
	pair := types.TupleOf(types.U64, types.U64)
	digits := b.newJoin(pair)
	for i := range 10 {
		if i > 0 {
			b.unless(ir.EQ, left, 0, func() { b.jumpWith(digits, pairOf(pair, first, second)) })
		}
		tens := b.Imm(ir.OpUDiv, left, 10)
		push(b.Add(b.Op(ir.OpSub, left, b.Imm(ir.OpMul, tens, 10)), '0'))
		left = tens
	}
	b.jumpWith(digits, pairOf(pair, first, second))
	v := b.enter(digits)
	first, second = v.elems[0].x, v.elems[1].x
	signed := b.newJoin(pair)
	b.unless(ir.EQ, sign, 0, func() { b.jumpWith(signed, pairOf(pair, first, second)) })
	push(b.Const('-'))
	b.jumpWith(signed, pairOf(pair, first, second))
	v = b.enter(signed)
	return v.elems[0].x, v.elems[1].x
}
