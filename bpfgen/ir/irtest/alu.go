package irtest

import (
	"fmt"
	"math/bits"

	"github.com/startrace/startrace/bpfgen/ir"
)

// What macro ops give, for the machine of tests.

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
	case ir.OpScratchSlot:
		return 0, nil
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
