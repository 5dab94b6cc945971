package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// Loads of numbers through pointers: of the kernel, of processes (probe_read), bit-fields.

// reads reads numbers and addresses through pointers.
type reads struct{ *code }

// loadExpr reads a scalar.
func (b reads) loadExpr(e *tree.Expr) val {
	off, size, shift := e.Int, loadSize(e.Type), uint8(0)
	if e.BitSize != 0 {
		off, size, shift = bitField(e)
	}
	v := val{t: e.Type}
	if e.Str == tree.Ctx {
		v.x = b.Load(size, b.base(e.Args[0]), off)
		if e.Type.MayFault {
			v.tag = b.Const(tree.TagPresent)
		}
	} else {
		rc := b.probeRead(e.Str, b.temp(), b.Const(int64(size)), b.Add(b.base(e.Args[0]), off))
		v.x = b.Load(size, b.temp(), 0)
		if e.Type.MayFault { // rc is 0 or negative
			v.tag = b.Imm(ir.OpAnd, b.Imm(ir.OpLShr, rc, 62), tree.TagFault)
		}
	}
	v.x = b.field(v.x, e, size, shift)
	if hasTag(e.Type) && v.tag == nil {
		v.tag = b.Const(tree.TagPresent)
	}
	return v
}

func loadSize(t types.Type) int {
	switch t.Kind {
	case types.Bool:
		return 1
	case types.Int, types.Float:
		return int(t.Bits) / 8
	}
	return 8
}

// bitField gives the bytes to read for a bit-field: the least power of two
// that holds it, aligned, and the number of bits below it. The place may lie before the address, as in the struct
// around a member or below the base of a frame.
func bitField(e *tree.Expr) (off int64, size int, shift uint8) {
	bit := e.Int*8 + int64(e.Bit)
	within := func() int64 { return int64(size)*8 - 1 }
	for size = 1; size < 8 && bit&^within() != (bit+int64(e.BitSize)-1)&^within(); {
		size *= 2
	}
	return bit &^ within() / 8, size, uint8(bit & within())
}

// field makes the value of what was read: a bit-field is moved down, a signed
// one extended, a bool made 0 or 1.
func (b reads) field(x *ir.Value, e *tree.Expr, size int, shift uint8) *ir.Value {
	bits := size * 8
	if e.BitSize != 0 {
		bits = int(e.BitSize)
		if shift > 0 {
			x = b.Imm(ir.OpLShr, x, int64(shift))
		}
		if bits < 64 && (bits < size*8 || shift > 0) {
			x = b.Extend(x, bits, signed(e.Type))
			return x
		}
	}
	switch {
	case e.Type.Kind == types.Bool:
		return b.Cmp(ir.NE, x, b.Const(0))
	case signed(e.Type) && bits < 64:
		return b.Extend(x, bits, true)
	}
	return x
}

// base is the address that a read starts from; FAULT and None are 0, which
// cannot be read.
func (b reads) base(e *tree.Expr) *ir.Value {
	v := b.expr(e)
	if v.x == nil {
		b.fail("read through %s of type %s", e.Op, e.Type)
	}
	return v.x
}

// probeRead calls the helper that the space wants and gives its result.
func (b reads) probeRead(space tree.Space, dst, size, src *ir.Value) *ir.Value {
	return b.readWith(space, helperProbeReadKernel, helperProbeReadUser, dst, size, src)
}

// readWith decides where the space is Auto by the address: those of the
// kernel have the top bit set on the machines that we know.
func (b reads) readWith(space tree.Space, kernel, user int64, dst, size, src *ir.Value) *ir.Value {
	switch space {
	case tree.Kernel, tree.Ctx:
		return b.Call(kernel, dst, size, src)
	case tree.User:
		return b.Call(user, dst, size, src)
	}
	k, u := b.NewBlock(), b.NewBlock()
	j := b.newJoin(types.I64)
	b.BranchImm(ir.SLT, src, 0, k, u)
	b.Begin(k)
	b.jumpWith(j, intVal(types.I64, b.Call(kernel, dst, size, src)))
	b.Begin(u)
	b.jumpWith(j, intVal(types.I64, b.Call(user, dst, size, src)))
	return b.enter(j).x
}
