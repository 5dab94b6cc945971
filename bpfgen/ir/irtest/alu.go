package irtest

import (
	"fmt"
	"math/bits"

	"github.com/startrace/startrace/bpfgen/ir"
)

// ALU computes an operation of two operands as the machine does.
func ALU(op ir.Op, x, y int64) int64 {
	ux, uy := uint64(x), uint64(y)
	switch op {
	case ir.OpAdd:
		return x + y
	case ir.OpSub:
		return x - y
	case ir.OpMul:
		return x * y
	case ir.OpUDiv:
		if y == 0 {
			return 0
		}
		return int64(ux / uy)
	case ir.OpUMod:
		if y == 0 {
			return x
		}
		return int64(ux % uy)
	case ir.OpAnd:
		return x & y
	case ir.OpOr:
		return x | y
	case ir.OpXor:
		return x ^ y
	case ir.OpShl:
		return x << (uy & 63)
	case ir.OpLShr:
		return int64(ux >> (uy & 63))
	case ir.OpAShr:
		return x >> (uy & 63)
	}
	panic("irtest: not arithmetic: " + op.String())
}

// macro executes an op that lower rewrites.
func (m *Machine) macro(v *ir.Value, x, y int64) (int64, error) {
	switch v.Op {
	case ir.OpSExt:
		return x << (64 - v.Imm) >> (64 - v.Imm), nil
	case ir.OpZExt:
		return int64(uint64(x) << (64 - v.Imm) >> (64 - v.Imm)), nil
	case ir.OpFloorDiv, ir.OpFloorMod:
		return floor(v.Op, x, y)
	case ir.OpCmp:
		if ir.Cond(v.Imm).Holds(x, y) {
			return 1, nil
		}
		return 0, nil
	case ir.OpLog2:
		return int64(bits.Len64(uint64(x))), nil
	case ir.OpScratch:
		return m.regions[1].base + v.Imm, nil
	case ir.OpCountSite:
		m.Sites[v.Imm]++
		return 0, nil
	case ir.OpZero:
		mem, err := m.at(x, int(v.Imm))
		clear(mem)
		return 0, err
	case ir.OpCopy:
		src, err := m.at(y, int(v.Imm))
		if err != nil {
			return 0, err
		}
		dst, err := m.at(x, int(v.Imm))
		copy(dst, src)
		return 0, err
	}
	return 0, fmt.Errorf("unknown op %s", v.Op)
}

func floor(op ir.Op, x, y int64) (int64, error) {
	if y == 0 {
		return 0, fmt.Errorf("division by 0")
	}
	q, r := x, int64(0)
	if y == -1 {
		q = -x // Go's division would be right too, but say it
	} else {
		q, r = x/y, x%y
	}
	if r != 0 && (r < 0) != (y < 0) {
		q, r = q-1, r+y
	}
	if op == ir.OpFloorDiv {
		return q, nil
	}
	return r, nil
}
