package ssagen

import (
	"fmt"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// The function under construction (code), which all types of the package hold.

// code is one function under construction, as all rooms of this package see it: its instructions, its memory, what
// is known at the current place, and the counters of the script's places. The rooms are types that hold it (aggs,
// tables, spans, texts, stacks …): each writes the instructions of one concept, and asks for those of an expression
// or a block of the tree by expr, cond and block, which do not depend on who asks.
type code struct {
	*Shared
	*ir.Builder
	memory
	state
	// prog is the program whose function it is.
	prog *tree.Program
	// tree writes the instructions of expressions and statements; see evaluator.
	tree evaluator
	// uses counts what the program reads of the event.
	uses uses
	// locals counts the assignments and uses of the program's variables.
	locals locals
	// lazy has, by variable, the assignments so far that are made at their only use, and not where they stand (late).
	lazy map[int64]*tree.Expr
	// steady has the answers of late.stable, for as long as the program is written.
	steady map[*tree.Expr]bool
	// same numbers what is read, for as long as the program is written.
	same sameReads
	// numbers are the record numbers that the system call decides (variants).
	numbers numbers
	// syscall is the number of the system call, from the prologue of a program of a span of system calls on. It is nil
	// in other programs and in subprograms, which ask by syscallNr.
	syscall *ir.Value
	// span is what has been found of the span that the program is at.
	spanned
	// regs is the copy of pt_regs at system calls, from its first use on (registers).
	regs *region
	// bounds is how many loops over strings were written so far; each has a bound of its own.
	bounds int
	// ordered is how many texts were chosen so far by their order.
	ordered int
	// turns is how often the verifier follows the blocks of loops over strings.
	turns map[*ir.Block]int64
}

// goesRound notes that the blocks of a loop over a string are followed n times, for what a loop around it costs.
func goesRound(b *code, n int64, blocks ...*ir.Block) {
	if b.turns == nil {
		b.turns = map[*ir.Block]int64{}
	}
	for _, x := range blocks {
		b.turns[x] = n
	}
}

// spanned is the span that a program is at an end or a start of, as far as it has been found.
type spanned struct {
	// entry is the entry of the span that ends here, from its look-up on.
	entry *spanEntry
	// nested tells which call this is, in a span whose calls nest. It is nil until that is looked for.
	nested *nested
	// opened is set once the entry of a nested span has been made.
	opened bool
}

// An evaluator writes the instructions of parts of the tree.
type evaluator interface {
	// expr gives the value of e.
	expr(e *tree.Expr) val
	// cond leaves the current block for then where e is true, else for els.
	cond(e *tree.Expr, then, els *ir.Block)
	// inline gives the value of a call of a function whose body is e's.
	inline(e *tree.Expr) val
	// block runs statements.
	block(blk *tree.Block)
	// ret ends the program.
	ret()
}

func (b *code) expr(e *tree.Expr) val                  { return b.tree.expr(e) }
func (b *code) cond(e *tree.Expr, then, els *ir.Block) { b.tree.cond(e, then, els) }
func (b *code) block(blk *tree.Block)                  { b.tree.block(blk) }
func (b *code) ret()                                   { b.tree.ret() }

// A bug is a tree that no code can be made of.
type bug struct {
	pos plan.Pos
	msg string
}

func (e *bug) Error() string { return fmt.Sprintf("%s: compiler: build: %s", e.pos, e.msg) }

func (b *code) fail(format string, args ...any) {
	panic(&bug{b.Pos, fmt.Sprintf(format, args...)})
}

// at sets the place in the script for what follows and gives the way back.
func (b *code) at(pos plan.Pos) func() {
	old := b.Pos
	if pos.IsValid() {
		b.Pos = pos
	}
	return func() { b.Pos = old }
}

// number is e as a 64-bit value.
func (b *code) number(e *tree.Expr) *ir.Value {
	v := b.expr(e)
	if v.x == nil || v.tag != nil {
		b.fail("%s of type %s used as a number", e.Op, e.Type)
	}
	return v.x
}

func (b *code) span() (*tree.Span, string) {
	n := b.prog.Attach.Span
	return b.Tree.Spans[n], tree.SpanMap(n)
}

// tidKey is the key of the thread's entry.
func (b *code) tidKey() *region {
	m := b.alloc(8)
	b.Store(8, b.addr(m, 0), 0, b.tid())
	return m
}

func (b *code) isSyscall() bool { return b.prog.Attach.Kind().Syscall() }

func (b *code) container(n int64) *tree.Container {
	if n < 0 || int(n) >= len(b.Tree.Containers) || b.Tree.Containers[n] == nil {
		b.fail("container %d is not in the unit", n)
	}
	return b.Tree.Containers[n]
}

// nested is a nested span as one program uses it.
type nested struct {
	// key is the key of the call's entry in the map.
	key *region
	// frame and place tell one call of a thread from the next: where its frame is, and which function it is.
	frame, place *ir.Value
	ret          *ir.Value // the return address; 0 where nothing but a return leaves a call
	depth        *ir.Value // how many calls around this one are open
	first        *ir.Value // the entry of depth 0, where depth is not 0
}

// spanEntry is the entry of the span that ends here.
type spanEntry struct {
	p      *ir.Value
	layout *wire.Fixed
	slots  []types.Type
}

// numbers are the record numbers that the system call decides.
type numbers struct {
	tables [][maxSyscall]uint32
	index  map[*tree.Stmt]int // the table of a send; others have one number
}

// slotKey is the key of a slot in the cache.
type slotKey int64
