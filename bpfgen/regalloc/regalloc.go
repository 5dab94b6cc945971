// Package regalloc assigns the registers R0–R9 and the stack to the values of
// a function of machine ops.
//
// One walk over the blocks, dominators first, keeps for every register the
// value that it holds. A block starts with the registers that its most
// frequent predecessor left; edges from the others get the moves that make up
// the difference. A value that loses its last register lives in a spill slot,
// and is stored there right after its definition: that dominates all uses, so
// the slot is good everywhere. What a register loses is chosen by the
// distance to the next use (Belady), after values that cost nothing to make
// again: constants, addresses of stack slots and maps are never spilled.
//
// The machine's rules: a call takes its arguments in R1–R5, gives its result
// in R0 and leaves R1–R5 unreadable; R6–R9 survive; arithmetic overwrites its
// first operand; cmpxchg expects and gives the old value in R0; R10 is the
// frame. R6–R9 cost nothing to use: the kernel saves them once per program.
// So a value that lives across a call is put there from its definition on
// where one is free.
//
// The function is not changed. Verify executes an allocation symbolically and
// proves that every operand is where the instruction takes it from.
package regalloc

import (
	"fmt"

	"github.com/startrace/startrace/bpfgen/ir"
)

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

// Kind is the kind of a Step.
type Kind uint8

// The kinds of steps.
const (
	Exec  Kind = iota // instruction Value with Args, result in Dst
	Move              // Dst = Src
	Make              // Dst = constant or address Value
	Load              // Dst = spill slot at Off
	Store             // spill slot at Off = Src
)

// A Step is about one machine instruction.
type Step struct {
	Kind Kind
	// Value is what is executed or moved; nil for a register that is saved
	// in the course of moves on an edge.
	Value *ir.Value
	Dst   Reg
	Src   Reg
	// Args are the registers of the operands of Value; NoReg where the
	// instruction holds the operand itself, see Folded. If the op
	// overwrites an operand, that is in Dst.
	Args [5]Reg
	Off  int // bytes from R10, negative

	slot int // number of the spill slot, of which finish makes Off
}

// A BlockCode is the code of a block.
type BlockCode struct {
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
	Func   string
	Total  int   // bytes needed
	Slots  []int // bytes of each of the function's slots, 0: not used
	Spills int   // values on the stack beside the slots, 8 bytes each
}

func (e *StackError) Error() string {
	return fmt.Sprintf("%s needs %d bytes of stack, the limit is %d: slots %v and %d spilled values",
		e.Func, e.Total, MaxStack, e.Slots, e.Spills)
}

// Allocate assigns registers. The function must satisfy CheckMachine.
// The error is a *StackError.
func Allocate(f *ir.Func) (*Allocation, error) {
	s := newState(f)
	s.computeLive()
	for _, b := range s.order {
		s.block(b)
	}
	s.colourSlots()
	for _, b := range s.order {
		for i := range b.Term.To {
			s.edge(b, i)
		}
	}
	return s.finish()
}
