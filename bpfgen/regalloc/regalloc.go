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
	"github.com/startrace/startrace/bpfgen/ir"
)

// Allocate gives registers to the values of a function.

// Allocate assigns registers. The function must satisfy CheckMachine.
// The error is a *StackError.
func Allocate(f *ir.Func) (*Allocation, error) {
	s := newState(analyse(f))
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
