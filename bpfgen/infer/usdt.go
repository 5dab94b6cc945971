package infer

import (
	"math/big"
	"slices"

	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/ctypes"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/usdt"
)

// e.args of static probes (usdt:), by the operands of their notes.

// names: an argument of which nobody knows a name is e.args.argN.
func (a *operandArgs) names() []string {
	a.f.ask(question{about: aboutOperands})
	var out []string
	for i := range a.f.Site.Args {
		out = append(out, a.f.OperandName(i))
	}
	return out
}

// get is an argument by its name, with its type, or by its number, as the program has it.
func (a *operandArgs) get(b *body, name string, pos plan.Pos) (val, bool) {
	if i := slices.Index(a.names(), name); i >= 0 && i < len(a.f.Operands) {
		return a.typed(b, i, pos), true
	}
	for i := range a.f.Site.Args {
		if points.Numbered(i) == name {
			return a.at(b, i, pos)
		}
	}
	return val{}, false
}

// typed is an argument by its type. An int keeps the width and the sign that the program gives it.
func (a *operandArgs) typed(b *body, i int, pos plan.Pos) val {
	p := a.f.Operands[i]
	word := b.argWords().operand(&a.f.Site.Args[i], pos)
	btf := b.u.btf(pos)
	t, err := btf.Type(btf.Skip(p.Type))
	switch {
	case err != nil:
		wrong(pos, "%v", err)
	case p.Length != "":
		n, ok := a.at(b, slices.IndexFunc(a.f.Operands, func(o ctypes.Param) bool { return o.Name == p.Length }), pos)
		if !ok {
			return exprVal(lost(pos))
		}
		return callCstr(b, []arg{{v: word, pos: pos}, {v: n, pos: pos}}, pos)
	case t.Bool:
		return b.convertNumber(word, types.Boolean, pos)
	case t.Kind == kernel.KindInt || t.Kind == kernel.KindFloat:
		return word
	}
	return b.argWords().typedWord(convert(b.numOrFault(word, pos), types.U64), p.Type, pos)
}

func (a *operandArgs) at(b *body, i int, pos plan.Pos) (val, bool) {
	a.f.ask(question{about: aboutOperands})
	if i < 0 || i >= len(a.f.Site.Args) {
		return val{}, false
	}
	return b.argWords().operand(&a.f.Site.Args[i], pos), true
}

// operand reads an argument where the note says that it is.
func (b argWords) operand(o *usdt.Operand, pos plan.Pos) val {
	t := types.IntOf(uint8(8*o.Size), o.Signed)
	switch {
	case o.Float && o.Kind == usdt.InMemory && (o.Size == 4 || o.Size == 8):
		at := memPlace{operandAddress(o, pos), o.Disp, tree.User, b.body}
		return exprVal(load(at, types.FloatOf(uint8(8*o.Size)), pos))
	case o.Float:
		return exprVal(unreadable(pos))
	case o.Kind == usdt.Constant:
		n := cutTo(o.Const, t)
		if n.Sign() < 0 && t.Bits < 64 { // a constant has 64 bits where it is shown without a sign
			return exprVal(partOf(as(intExpr(n.Int64(), pos), t, pos)))
		}
		return constant(plan.Int{Big: n})
	case o.Kind == usdt.InRegister:
		return exprVal(partOf(as(part(o.Register, pos), t, pos)))
	case o.Kind == usdt.InMemory:
		return exprVal(load(memPlace{operandAddress(o, pos), o.Disp, tree.User, b.body}, t, pos))
	}
	wrong(pos, "the argument %s cannot be read: %s", o.Text, o.Problem)
	return val{}
}

// cutTo is a constant in the width and with the sign of an int type, as a register
// of that type would have it.
func cutTo(n int64, t types.Type) *big.Int {
	bits := uint64(n) << (64 - t.Bits) >> (64 - t.Bits)
	if t.Signed {
		return big.NewInt(int64(bits) << (64 - t.Bits) >> (64 - t.Bits))
	}
	return new(big.Int).SetUint64(bits)
}

// operandAddress is base + index·scale.
func operandAddress(o *usdt.Operand, pos plan.Pos) *tree.Expr {
	sum := intExpr(0, pos)
	if o.Register.Name != "" {
		sum = part(o.Register, pos)
	}
	if o.Index.Name == "" {
		return as(sum, types.U64, pos)
	}
	scaled := part(o.Index, pos)
	if o.Scale > 1 {
		scaled = operation(tree.OpMul, types.I64, scaled, intExpr(int64(o.Scale), pos), pos)
	}
	return as(operation(tree.OpAdd, types.I64, sum, scaled, pos), types.U64, pos)
}

// part is a register, or some bits of one.
func part(r usdt.Register, pos plan.Pos) *tree.Expr {
	e := register(kernel.RegisterOffsets("").Names[r.Name], pos)
	if r.Shift != 0 {
		e = operation(tree.OpShr, types.U64, e, intExpr(int64(r.Shift), pos), pos)
	}
	if r.Bytes == 8 {
		return e
	}
	return as(as(e, types.IntOf(uint8(8*r.Bytes), r.Signed), pos), types.I64, pos)
}
