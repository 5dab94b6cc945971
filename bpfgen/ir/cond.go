package ir

// Conditions of branches: negated, swapped, computed.

// Holds reports whether x c y.
func (c Cond) Holds(x, y int64) bool {
	ux, uy := uint64(x), uint64(y)
	switch c {
	case EQ:
		return x == y
	case NE:
		return x != y
	case ULT:
		return ux < uy
	case ULE:
		return ux <= uy
	case UGT:
		return ux > uy
	case UGE:
		return ux >= uy
	case SLT:
		return x < y
	case SLE:
		return x <= y
	case SGT:
		return x > y
	case SGE:
		return x >= y
	case SET:
		return x&y != 0
	}
	return false
}

var negated = [...]Cond{
	EQ: NE, NE: EQ, ULT: UGE, ULE: UGT, UGT: ULE, UGE: ULT,
	SLT: SGE, SLE: SGT, SGT: SLE, SGE: SLT,
}

// Negate gives the condition that holds when c does not; SET has none.
func (c Cond) Negate() (Cond, bool) {
	if int(c) >= len(negated) {
		return c, false
	}
	return negated[c], true
}

var swapped = [...]Cond{
	EQ: EQ, NE: NE, ULT: UGT, ULE: UGE, UGT: ULT, UGE: ULE,
	SLT: SGT, SLE: SGE, SGT: SLT, SGE: SLE, SET: SET,
}

// Swap gives d such that y d x where x c y.
func (c Cond) Swap() Cond { return swapped[c] }
