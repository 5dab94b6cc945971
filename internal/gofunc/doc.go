// Package gofunc knows how functions look that Go compiled: where a probe on
// their entry belongs, where they return, and where their arguments are.
//
// It works on the bytes of one function and knows neither files nor processes.
// Offsets are in bytes from the function's first.
//
// Why not as in C. Go's stacks move when they grow: every return address on
// them is found by the runtime, which looks up what function it lies in. A
// uretprobe replaces the return address by one that belongs to no function, and
// the program dies at the next growth or garbage collection. So returns are
// probed where they happen, at each RET.
package gofunc

import "math"

// The comment of the package, and what matters of an instruction.

// An instruction is what matters of one.
type instruction struct {
	at, size int
	kind     instructionKind
	target   int // of jumps and branches that say it; from the function's start
}

type instructionKind uint8

const (
	plain         instructionKind = iota
	branch                        // conditional
	jump                          // unconditional, to a place that it says
	leave                         // unconditional, to a place in a register or in a table
	leaveByMemory                 // unconditional, to a place that memory says: a method or an import
	call
	ret
	data // no instruction
)

// Elsewhere is the target of a jump through memory.
const Elsewhere = math.MaxInt
