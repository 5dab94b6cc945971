package regalloc

import (
	"fmt"

	"github.com/startrace/startrace/bpfgen/ir"
)

// The result of allocation: steps, moves, the registers and the stack's limit of 512 bytes.

// Reg is a machine register, 0 to 9.
type Reg int8

// NoReg stands where an instruction has no register: the operand is part of
// the instruction, or there is no result.
const NoReg Reg = -1

// numRegs is the number of registers to assign; R10, the frame, is not.
const numRegs = 10

// MaxStack is the kernel's limit of a program's stack (MAX_BPF_STACK in
// include/linux/filter.h).
const MaxStack = 512

// StepKind says what a Step does.
type StepKind uint8

// The kinds of steps.
const (
	Exec  StepKind = iota // instruction Value with Args, result in Dst
	Move                  // Dst = Src
	Make                  // Dst = constant or address Value
	Load                  // Dst = spill slot at Off
	Store                 // spill slot at Off = Src
)

// A Step is about one machine instruction.
type Step struct {
	// Kind says what the step does. It decides which of the other fields it has.
	Kind StepKind
	// Value is what is executed or moved; nil for a register that is saved
	// in the course of moves on an edge.
	Value *ir.Value
	// Dst is the register that is written; NoReg if the step writes none.
	Dst Reg
	// Src is the register that a Move or a Store reads.
	Src Reg
	// Args are the registers of the operands of Value; NoReg where the
	// instruction holds the operand itself, see Folded. If the op
	// overwrites an operand, that is in Dst.
	Args [5]Reg
	Off  int // bytes from R10, negative

	slot int // number of the spill slot, of which finish makes Off
}

// A BlockCode is the code of a block.
type BlockCode struct {
	// Steps are in the order in which they run. The terminator comes behind them.
	Steps []Step
	// X and Y are the registers of the terminator's operands.
	X, Y Reg
	// Edges has for each edge the moves to do on the way.
	Edges [][]Step
}

// An Allocation is the result.
type Allocation struct {
	// Order has the blocks that can be reached, dominators first.
	Order []*ir.Block
	// Freq is an estimate by block number of how often a block runs, 1 for
	// the entry.
	Freq []float64
	// Code is by block number.
	Code []BlockCode
	// SlotOffset is the place of the function's slots, from R10; 0 for a
	// slot that nothing refers to.
	SlotOffset []int
	// Stack is the number of bytes of stack in use, a multiple of 8.
	Stack int
}

// A StackError says that a program needs more stack than there is.
type StackError struct {
	// Func is the name of the function that does not fit.
	Func   string
	Total  int   // bytes needed
	Slots  []int // bytes of each of the function's slots, 0: not used
	Spills int   // values on the stack beside the slots, 8 bytes each
}

func noArgs() [5]Reg { return [5]Reg{NoReg, NoReg, NoReg, NoReg, NoReg} }

func (e *StackError) Error() string {
	return fmt.Sprintf("%s needs %d bytes of stack, the limit is %d: slots %v and %d spilled values",
		e.Func, e.Total, MaxStack, e.Slots, e.Spills)
}
