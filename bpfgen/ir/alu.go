package ir

// What each operation of two operands gives, as the machine computes.

// ALU computes an operation of two operands (IsALU2) as the machine does: a quotient by 0 is 0, a remainder by 0 is the
// dividend, and shifts go by the low six bits (Documentation/bpf/standardization/instruction-set.rst of the kernel).
func (o Op) ALU(x, y int64) int64 {
	ux, uy := uint64(x), uint64(y)
	switch o {
	case OpAdd:
		return x + y
	case OpSub:
		return x - y
	case OpMul:
		return x * y
	case OpUDiv:
		if y == 0 {
			return 0
		}
		return int64(ux / uy)
	case OpUMod:
		if y == 0 {
			return x
		}
		return int64(ux % uy)
	case OpAnd:
		return x & y
	case OpOr:
		return x | y
	case OpXor:
		return x ^ y
	case OpShl:
		return x << (uy & 63)
	case OpLShr:
		return int64(ux >> (uy & 63))
	case OpAShr:
		return x >> (uy & 63)
	}
	panic("ir: not arithmetic: " + o.String())
}
