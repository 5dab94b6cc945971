package ir

// Groups of operations: arithmetic, loads, stores, which commute, how immediates are written.

// immForm says how the text form writes Value.Imm.
type immForm uint8

const (
	immNone    immForm = iota
	immLeading         // first: const 5, call 14 v1
	immOperand         // as the last operand: sext v1, 32
	immOffset          // with a sign, without a comma: load8 v1 +4
	immCond            // the name of a condition: cmp ult v1, v2
	immOrY             // in place of the second operand: add v1, 5
)

// immForm gives the form for v. Ops of two operands without an immediate of
// their own take one in place of y.
func (v *Value) immForm() immForm {
	info := &opTable[v.Op]
	switch {
	case v.Op == OpCall && v.Sym != "":
		return immNone
	case v.Op == OpConst, v.Op == OpArg, v.Op == OpCall, v.Op == OpCountSite:
		return immLeading
	case v.Op == OpCmp:
		return immCond
	case v.Op == OpSExt, v.Op == OpZExt, v.Op == OpZero, v.Op == OpCopy:
		return immOperand
	case info.imm:
		return immOffset
	case v.Op.IsALU2() && len(v.Args) == 1:
		return immOrY
	}
	return immNone
}

// IsALU2 reports whether o is arithmetic of two operands, the second of which
// may be an immediate.
func (o Op) IsALU2() bool { return o >= OpAdd && o <= OpAShr }

// IsMemory reports whether the first operand of o is an address to which Imm
// is added.
func (o Op) IsMemory() bool { return o >= OpLoad8 && o <= OpCmpXchg64 }

// IsLoad reports whether o is a plain load.
func (o Op) IsLoad() bool { return o >= OpLoad8 && o <= OpLoad64 }

// IsStore reports whether o is a plain store.
func (o Op) IsStore() bool { return o >= OpStore8 && o <= OpStore64 }

// Width is the number of bytes that a plain load or store moves; else 0.
func (o Op) Width() int {
	switch o {
	case OpLoad8, OpStore8:
		return 1
	case OpLoad16, OpStore16:
		return 2
	case OpLoad32, OpStore32:
		return 4
	case OpLoad64, OpStore64:
		return 8
	}
	return 0
}

// IsCommutative reports whether the operands of o may change places.
func (o Op) IsCommutative() bool {
	switch o {
	case OpAdd, OpMul, OpAnd, OpOr, OpXor:
		return true
	}
	return false
}

// Fits32 reports whether c is an immediate of the machine: 32 bits, which the
// machine sign-extends to 64.
func Fits32(c int64) bool { return c == int64(int32(c)) }
