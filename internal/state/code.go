package state

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/internal/bpf"
)

// Pieces of code of the programs of this package.

// A helper program returns ranOK when it has done its work, so that 0 means
// that the kernel did not run it: newer ones skip a test run while the same
// program is active on the CPU (__bpf_prog_test_run_raw_tp).
const (
	ranOK     = 1
	ranAbsent = 2 // there is no entry of the key
)

// errNotRun is returned if the kernel keeps skipping a program.
var errNotRun = errors.New("the kernel did not run the program")

// runHelper runs a helper program until it did run.
func runHelper(prog *ebpf.Program, args ...uint64) (uint32, error) {
	for range 100 {
		if r, err := bpf.Run(prog, args); err != nil || r != 0 {
			return r, err
		}
	}
	return 0, errNotRun
}

// mapPtr loads the pointer of a map, mapMem the address of the first element
// of an array. References to maps that are open cannot fail to resolve.
func mapPtr(dst asm.Register, m *ebpf.Map) asm.Instruction { return withMap(asm.LoadMapPtr(dst, 0), m) }
func mapMem(dst asm.Register, m *ebpf.Map) asm.Instruction {
	return withMap(asm.LoadMapValue(dst, 0, 0), m)
}

func withMap(ins asm.Instruction, m *ebpf.Map) asm.Instruction {
	ins = ins.WithReference(m.String())
	if err := ins.AssociateMap(m); err != nil {
		panic("state: " + err.Error()) // only for an instruction that loads no map
	}
	return ins
}

// labelled gives a piece of code the label where it begins.
func labelled(label string, piece asm.Instructions) asm.Instructions {
	return append(asm.Instructions{piece[0].WithSymbol(label)}, piece[1:]...)
}

// address sets dst to base+off.
func address(dst, base asm.Register, off int) asm.Instructions {
	return asm.Instructions{asm.Mov.Reg(dst, base), asm.Add.Imm(dst, int32(off))}
}

// copyWords copies size bytes, a multiple of 8, from src+from to dst+to
// through R1.
func copyWords(dst asm.Register, to int, src asm.Register, from, size int) asm.Instructions {
	var out asm.Instructions
	for i := 0; i < size; i += 8 {
		out = append(out,
			asm.LoadMem(asm.R1, src, int16(from+i), asm.DWord),
			asm.StoreMem(dst, int16(to+i), asm.R1, asm.DWord))
	}
	return out
}

// give returns a constant from the program.
func give(label string, n int32) asm.Instructions {
	return asm.Instructions{asm.Mov.Imm(asm.R0, n).WithSymbol(label), asm.Return()}
}

// code joins pieces, instructions or lists of them.
func code(pieces ...any) asm.Instructions {
	var out asm.Instructions
	for _, p := range pieces {
		switch p := p.(type) {
		case asm.Instruction:
			out = append(out, p)
		case asm.Instructions:
			out = append(out, p...)
		default:
			panic(fmt.Sprintf("state: %T is no code", p))
		}
	}
	return out
}
