package infer

import (
	"math/big"
	"strings"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// cast(TYPE, p): an address as a pointer to a type, or a number in the bits of a type.

// callCast is cast("struct sock", p): p as a pointer to that type. With a type of
// numbers it is C's conversion: cast("unsigned char", n) is n & 255. Of FAULT it is FAULT.
func callCast(b *body, args []arg, pos plan.Pos) val {
	a := named(args, 2, 2, `cast("struct T", address)`, pos)
	tname, ok := a[0].constStr()
	if !ok {
		wrong(pos, "cast wants the type's name as a constant string first")
	}
	id := b.memory().typeByName(tname, pos)
	if !strings.HasSuffix(strings.TrimSpace(tname), "*") {
		if t, ok := b.numberType(id, pos); ok {
			return b.convertNumber(a[1], t, pos)
		}
	}
	if fold.IsFault(a[1].c) {
		return a[1]
	}
	at, addr := b.addressOf(a[1], pos)
	t := b.memory().addressType(id, pos)
	t.MayFault = addr.Type.MayFault
	out := exprVal(&tree.Expr{Op: tree.OpConvert, Type: t, Args: []*tree.Expr{addr}, Pos: pos})
	if at != b {
		out.start = at
	}
	return out
}

// numberType is the type of ints, bools and enums.
func (b *body) numberType(id kernel.TypeID, pos plan.Pos) (types.Type, bool) {
	btf := b.u.btf(pos)
	t, err := kernel.Outline(btf, btf.Skip(id))
	switch {
	case err != nil || t.Kind != kernel.KindInt && t.Kind != kernel.KindEnum:
		return types.Type{}, false
	case t.Bool:
		return types.Boolean, true
	case t.Size > 8:
		refuse(pos, "%s has %d bytes; a kernel half computes with 64 bits", t.Name, t.Size)
	}
	return types.IntOf(uint8(t.Size*8), t.Signed), true
}

// convertNumber is v as a number of type t: its low bits.
func (b *body) convertNumber(v val, t types.Type, pos plan.Pos) val {
	if i, ok := v.c.(plan.Int); ok {
		if t.Kind == types.Bool {
			return boolVal(i.Big.Sign() != 0)
		}
		return constant(plan.Int{Big: lowBits(i.Big, t)})
	}
	if fold.IsFault(v.c) {
		return v
	}
	if v.typ().Kind == types.Bool {
		if t.Kind == types.Bool {
			return v
		}
		v = b.boolNumber(v, pos)
	}
	e := b.numOrFault(v, pos)
	t.MayFault = e.Type.MayFault
	return exprVal(as(e, t, pos))
}

// boolNumber is a bool as 0 or 1.
func (b *body) boolNumber(v val, pos plan.Pos) val {
	if v.c != nil {
		number, _ := foldedVal(fold.Int([]plan.Value{v.c}))
		return number
	}
	if v.typ().MayFault && !v.typ().MayNone {
		return exprVal(as(b.rv(v, pos), types.IntOf(8, false).OrFault(), pos))
	}
	return callInt(b, []arg{{v: v}}, pos)
}

// lowBits are those of n that a number of type t has.
func lowBits(n *big.Int, t types.Type) *big.Int {
	room := new(big.Int).Lsh(big.NewInt(1), uint(t.Bits))
	out := new(big.Int).Mod(n, room)
	if t.Signed && out.Bit(int(t.Bits)-1) == 1 {
		out.Sub(out, room)
	}
	return out
}
