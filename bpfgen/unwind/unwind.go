// Package unwind writes the code that walks up the stack of a user program whose functions keep no frame pointers. It
// goes by the tables of package wire ("Tables for stacks of user programs"), which user space fills.
//
// The code of one step takes a frame to that of its caller. Between steps all that changes lies in memory of a map
// (State): of what comes from there the verifier knows nothing, so that all rounds are alike to it. It follows the step
// once, as what the kernel calls for each round (bpf_loop), or as a global function, which it looks at by itself. For
// the same reason the two searches have no branches. With the address x
// looked for and the entries a[0] ≤ x, …, sorted, each step of a search is
//
//	at += step · (x − a[at + step] ≥ 0)                  step = n/2, n/4, … 1
//
// with the sign bit of the difference moved to the place of the step.
//
// A frame is a pc, the stack pointer and the frame pointer. Half of all rules say that the frame pointer is saved in
// memory, and few need it, so that only the place is noted (stateSaved), and it is read when a rule asks for it.
package unwind

import (
	"math"
	"math/bits"

	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/wire"
)

// The walk along a user stack by tables: registers, search of the rule, the step of one frame.

// The state of a walk, in bytes behind its beginning. All are u64.
const (
	// statePC is where the frame is, with wire.StackMarked.
	statePC    = 8 * iota
	stateSP    // the stack pointer
	stateFP    // the frame pointer (rbp, x29), where stateSaved is 0
	stateSaved // where the frame pointer is saved, 0: in stateFP
	stateLink  // of arm64: the link register
	// stateBehind is what pc stands behind: nothing, if the frame is at pc, as the first one and one that a signal has
	// interrupted; a system call (behindSyscall), or the call to which it is the return address (behindCall).
	stateBehind
	stateStart // of the mapping of the frame before: its first address,
	stateSize  // its bytes,
	stateBase  // where the file's first page lies,
	stateChunk // and the file's first chunk
	stateCount // the addresses so far
	stateWhy   // why the walk has ended, wire.Unwind…
	// stateInstance is the kernel's record of the next call outwards whose return address was replaced (uprobes), 0: it
	// was not looked for yet.
	stateInstance
	stateRegs // where the kernel keeps the registers with which the walk begins (struct pt_regs), 0: out of reach
	// stateInPython is 1 while frames of a call of Python's evaluator are being taken.
	stateInPython
	// statePythonThread is the thread of Python that is looked at, 0 before the first one, and pythonKnown when it was
	// looked for. statePython is its next frame outwards, 0: there is none.
	statePythonThread
	statePython
	// stateFiles is a hash of the files that the walk has come through.
	stateFiles
	// statePending is 1 where the walk has come through code whose rules were not there yet.
	statePending
	stateWords // what was read of the stack: maxWords words

	// stateWindow is the address of a part of the stack that was read at once, windowSize bytes, and stateStack what
	// lies there. Calls beside each other have their frames in it.
	stateWindow = stateWords + 8*maxWords
	stateStack  = stateWindow + 8
	windowSize  = 256
	// noWindow is no address of a program.
	noWindow = math.MinInt64

	// The bit that they have in common says that the instruction which is meant lies before pc.
	behindSyscall = 1
	behindCall    = 3

	maxWords = 16
	// StateSize is the size of the state in bytes.
	StateSize = stateStack + windowSize
)

// A Convention is what a walk must know of an architecture.
type Convention struct {
	// savedBits is how many bits of a rule say where the frame pointer is saved.
	savedBits int
	// link is set where calls leave the return address in a register (arm64).
	link bool
	// returnSize is how many bytes of the stack the return address takes at the entry of a function.
	returnSize int64
	// canonical is how many bits addresses of user programs have at most.
	canonical int64
	// signal is where the registers lie that a signal has interrupted: so many bytes above the stack pointer lies the
	// first of signalWords words; the numbers of those that are needed follow.
	signal                                   int64
	signalWords                              int64
	signalFP, signalSP, signalPC, signalLink int64
}

// AMD64 and ARM64 are the conventions. On amd64 a signal's frame is a struct ucontext (arch/x86/include/uapi/asm),
// whose registers begin 40 bytes behind its start: rbp is word 10, rsp 15 and rip 16. On arm64 a siginfo of 128 bytes
// lies before it, and x0 is 184 bytes behind its start.
var (
	AMD64 = &Convention{savedBits: wire.UnwindSavedBitsAMD64, returnSize: 8, canonical: 56, signal: 40 + 8*10,
		signalWords: 7, signalFP: 0, signalSP: 5, signalPC: 6}
	ARM64 = &Convention{savedBits: wire.UnwindSavedBitsARM64, link: true, canonical: 52, signal: 128 + 184 + 8*29,
		signalWords: 4, signalFP: 0, signalLink: 1, signalSP: 2, signalPC: 3}
)

// Registers are those with which a walk begins. Link is nil on amd64.
type Registers struct {
	// PC is where the program is.
	PC *ir.Value
	// SP is its stack pointer, FP its frame pointer, and Link its link register.
	SP, FP, Link *ir.Value
	// Saved is the address of the struct pt_regs that they are from.
	Saved *ir.Value
	// Behind is 1 if PC stands behind the instruction of a system call, which the program has not come back from, else
	// 0. nil is 0.
	Behind *ir.Value
}

// A Walk is the code of one walk under construction.
type Walk struct {
	*ir.Builder
	// Convention is that of the machine that the code is for.
	Convention *Convention
	// Memory gives the address of the memory of a map that the walk has. The state begins at byte State of it, and the
	// addresses go to byte Addrs and on.
	Memory func() *ir.Value
	// State and Addrs are said at Memory.
	State, Addrs int64
	// Most is how many addresses are wanted.
	Most int64
	// Offsets are places in structs of the kernel.
	Offsets *tree.WalkOffsets
	// AtEntry: the program is at the first instruction of a function. So it is known without a rule where it returns
	// to.
	AtEntry bool
	// Table is the address of the process's table.
	Table *ir.Value
	// Key gives the address of 8 bytes of the program's own stack.
	Key func() *ir.Value
	// FindArea has the kernel call NoteArea with the part of the program's memory in which an address lies, and gives 0
	// or a number of an error. It is nil where the kernel does not tell.
	FindArea func(addr *ir.Value) *ir.Value
}

func (w *Walk) get(field int64) *ir.Value { return w.Load(8, w.Memory(), w.State+field) }

func (w *Walk) set(field int64, x *ir.Value) { w.Store(8, w.Memory(), w.State+field, x) }

// Start puts the registers into the state.
func (w *Walk) Start(r Registers) {
	zero := w.Const(0)
	link := zero
	if w.Convention.link {
		link = r.Link
	}
	pc, behind := r.PC, r.Behind
	if behind == nil {
		behind = zero
	} else {
		pc = w.Op(ir.OpOr, pc, w.Imm(ir.OpShl, behind, 63))
	}
	w.set(statePC, pc)
	w.set(stateBehind, behind)
	w.set(stateSP, r.SP)
	w.set(stateFP, r.FP)
	w.set(stateLink, link)
	w.set(stateRegs, r.Saved)
	for _, field := range []int64{stateSaved, stateStart, stateSize, stateCount, stateInstance, stateInPython,
		statePythonThread, statePython, stateFiles, statePending} {
		w.set(field, zero)
	}
	w.set(stateWhy, w.Const(wire.UnwindLimit))
	w.set(stateWindow, w.Const(noWindow))
}

// Count is how many addresses the walk has found, and Why the reason of its end.
func (w *Walk) Count() *ir.Value { return w.get(stateCount) }

// Why is said at Count. A walk through code whose rules were not there yet says that, however it has ended.
func (w *Walk) Why() *ir.Value {
	why := w.get(stateWhy)
	differ := w.Op(ir.OpXor, why, w.Const(wire.UnwindNoTable))
	return w.Op(ir.OpXor, why, w.Op(ir.OpMul, differ, w.get(statePending)))
}

// Pending is 1 where the walk has come through code whose rules were not there yet, else 0.
func (w *Walk) Pending() *ir.Value { return w.get(statePending) }

// Files is a hash of the files that the walk has come through: others can be mapped at the same addresses later.
func (w *Walk) Files() *ir.Value { return w.get(stateFiles) }

// Fail notes that there was no table to walk by.
func (w *Walk) Fail() {
	w.set(stateWhy, w.Const(wire.UnwindNoTable))
	w.set(stateFiles, w.Const(0))
}

// Without ends the walk at its first frame: there is no table any more.
func (w *Walk) Without() {
	w.Fail()
	w.set(stateCount, w.Const(1))
}

// A step is the code of one frame. It ends in the block on, where the state is the caller's, or in stop.
type step struct {
	*Walk
	// pc is the place by which rules are looked up, within the call where the frame stands behind one.
	pc *ir.Value
	// on is where the step ends if there is a caller, and stop if there is none.
	on, stop *ir.Block
	// lost is where a return address is looked for that leads to no code.
	lost *ir.Block
}

// Step writes the code of one frame. It goes on at the block on, where the state is that of the caller, or at stop,
// where the walk is over.
func (w *Walk) Step(on, stop *ir.Block) {
	s := &step{Walk: w, on: on, stop: stop, lost: w.NewBlock()}
	count := w.get(stateCount)
	s.endIf(ir.UGE, count, w.Most, wire.UnwindLimit)
	if w.Offsets.Thread != 0 {
		python{s}.frames(count)
	}
	pc := w.get(statePC)
	w.Store(8, w.Op(ir.OpAdd, w.Memory(), w.Imm(ir.OpShl, count, 3)), w.Addrs, pc)
	s.pc = w.Op(ir.OpSub, w.Imm(ir.OpLShr, w.Imm(ir.OpShl, pc, 1), 1), w.Imm(ir.OpAnd, w.get(stateBehind), 1))
	s.mapped(count)
	if w.Offsets.Thread != 0 {
		python{s}.enter()
	}
	found, none := w.NewBlock(), w.NewBlock()
	rule := w.Param(found)
	s.rule(found, none)
	w.Begin(none)
	s.pendingIf(w.Cmp(ir.EQ, w.get(stateChunk), w.Const(wire.UnwindPending)))
	w.Jump(found, w.Const(wire.UnwindNone))
	w.Begin(found)
	if w.AtEntry {
		rule = s.orEntry(rule, count)
	}
	s.apply(rule)
	s.replaced()
}

// orEntry is the rule of the first instruction of a function where the one that was found for the first frame is none.
func (s *step) orEntry(rule, count *ir.Value) *ir.Value {
	none, first, other := s.NewBlock(), s.NewBlock(), s.NewBlock()
	out := s.Param(other)
	from := s.NewBlock()
	s.BranchImm(ir.EQ, s.Imm(ir.OpAnd, rule, 1<<wire.UnwindKindBits-1), wire.UnwindNone, none, from)
	s.Begin(none)
	s.BranchImm(ir.EQ, count, 0, first, from)
	s.Begin(first)
	words := s.Convention.returnSize / 8
	s.Jump(other, s.Const(wire.UnwindSP|words<<(wire.UnwindKindBits+s.Convention.savedBits)))
	s.Begin(from)
	s.Jump(other, rule)
	s.Begin(other)
	return out
}

// noFrame goes to lost with an address that was counted as a frame.
func (s *step) noFrame() {
	s.set(stateCount, s.Add(s.get(stateCount), -1))
	s.Jump(s.lost)
}

// end ends the walk.
func (s *step) end(why int64) {
	s.set(stateWhy, s.Const(why))
	s.Jump(s.stop)
}

// endIf ends the walk where c holds.
func (s *step) endIf(c ir.Cond, x *ir.Value, imm, why int64) {
	s.Unless(c, x, imm, func() { s.end(why) })
}

// mapped finds the mapping of pc and counts the frame. An address in none is no frame, but for that of the first one:
// there it is where the program is.
func (s *step) mapped(count *ir.Value) {
	known, search := s.NewBlock(), s.NewBlock()
	s.Branch(ir.ULT, s.Op(ir.OpSub, s.pc, s.get(stateStart)), s.get(stateSize), known, search)
	s.Begin(search)
	first, other := s.NewBlock(), s.NewBlock()
	s.BranchImm(ir.EQ, count, 0, first, other)
	s.Begin(first)
	s.set(stateCount, s.Const(1))
	s.Jump(other)
	s.Begin(other)
	s.endIf(ir.NE, s.Imm(ir.OpLShr, s.pc, s.Convention.canonical), 0, wire.UnwindNoMapping)
	at := s.search(s.Table, 8, wire.UnwindMappings, s.pc)
	start := s.Load(8, s.Op(ir.OpAdd, s.Table, at), 0)
	entry := s.Op(ir.OpAdd, s.Table, s.Imm(ir.OpShl, at, log2(wire.UnwindEntrySize/8)))
	field := func(size int, off int64) *ir.Value { return s.Load(size, entry, wire.UnwindEntries+off) }
	pages := field(4, wire.UnwindEntryPages)
	size := s.Imm(ir.OpShl, s.Imm(ir.OpAnd, pages, wire.UnwindAsk-1), log2(wire.UnwindPage))
	inside, outside, entered := s.NewBlock(), s.NewBlock(), s.NewBlock()
	file := s.Param(entered)
	s.Branch(ir.ULT, s.Op(ir.OpSub, s.pc, start), size, inside, outside)
	s.Begin(inside)
	chunk := field(4, wire.UnwindEntryChunk)
	s.set(stateStart, start)
	s.set(stateSize, size)
	s.set(stateBase, field(8, wire.UnwindEntryBase))
	s.set(stateChunk, chunk)
	if s.FindArea != nil {
		s.orElse(ir.UGE, pages, wire.UnwindAsk, outside)
	}
	s.Jump(entered, chunk)
	s.Begin(outside)
	s.area(entered)
	s.Begin(entered)
	s.set(stateFiles, s.Op(ir.OpMul, s.Op(ir.OpXor, s.get(stateFiles), s.Add(file, 1)), s.Const(filesFactor)))
	s.Jump(known)
	s.Begin(known)
	s.set(stateCount, s.Add(count, 1))
}

// filesFactor spreads the numbers of files over the hash of them.
const filesFactor = 0x6a09e667f3bcc909

// unmapped is for an address at which no code is mapped: if it is a return address, the kernel may have replaced it.
func (s *step) unmapped() {
	s.endIf(ir.NE, s.get(stateBehind), behindCall, wire.UnwindNoMapping)
	s.Jump(s.lost)
}

// search gives the offset of the last of n sorted entries of some bytes that is not above x. There is one.
func (s *step) search(table *ir.Value, size, n int64, x *ir.Value) *ir.Value {
	at := s.Const(0)
	for step := n / 2; step >= 1; step /= 2 {
		entry := s.Load(int(size), s.Op(ir.OpAdd, table, at), step*size)
		below := s.Imm(ir.OpLShr, s.Op(ir.OpSub, x, entry), 63)
		at = s.Op(ir.OpAdd, at, s.Imm(ir.OpShl, s.Imm(ir.OpXor, below, 1), log2(step*size)))
	}
	return at
}

func log2(n int64) int64 { return int64(bits.TrailingZeros64(uint64(n))) }

// rule looks up the rule of pc and jumps to found with it, or to none.
func (s *step) rule(found, none *ir.Block) {
	place := s.Op(ir.OpSub, s.pc, s.get(stateBase))
	first := s.get(stateChunk)
	s.orElse(ir.EQ, first, 0, none)
	s.orElse(ir.NE, s.Imm(ir.OpLShr, place, 32), 0, none)
	const pagesOfIndex = wire.UnwindPages * wire.UnwindPage
	index := s.chunk(s.Op(ir.OpAdd, first, s.Imm(ir.OpLShr, place, log2(pagesOfIndex))), none)
	page := s.Imm(ir.OpAnd, s.Imm(ir.OpLShr, place, log2(wire.UnwindPage)), wire.UnwindPages-1)
	behind := s.Load(2, s.Op(ir.OpAdd, index, s.Imm(ir.OpShl, page, 1)), 0)
	s.orElse(ir.EQ, behind, 0, none)
	rows := s.chunk(s.Op(ir.OpAdd, first, behind), none)
	guess := s.guess(first, place)
	at := s.Imm(ir.OpShl, s.Imm(ir.OpAnd, s.Load(2, guess, 0), wire.UnwindRows-1), 2)
	row := s.Op(ir.OpAdd, rows, at)
	search, above, inside := s.NewBlock(), s.NewBlock(), s.NewBlock()
	s.Branch(ir.ULT, place, s.Load(4, row, 0), search, above)
	s.Begin(above)
	s.Branch(ir.ULT, place, s.Load(4, row, 4), inside, search)
	s.Begin(inside)
	s.Jump(found, s.Load(4, row, 4*wire.UnwindRows))
	s.Begin(search)
	s.searched(rows, place, guess, found)
}

// searched looks for the rule of a place among rows, and notes the row in guess.
func (s *step) searched(rows, place, guess *ir.Value, found *ir.Block) {
	at := s.search(rows, 4, wire.UnwindRows, place)
	s.Store(2, guess, 0, s.Imm(ir.OpLShr, at, 2))
	s.Jump(found, s.Load(4, s.Op(ir.OpAdd, rows, at), 4*wire.UnwindRows))
}

// guess is the address of the word that has the number of the row which was found last for a place of a file, or for
// another place: each word serves many. So whoever takes it sees whether the place lies between that row and the next,
// and it does not matter who has written it meanwhile. Most walks lead through code where others were before.
func (s *step) guess(file, place *ir.Value) *ir.Value {
	mixed := s.Op(ir.OpMul, s.Op(ir.OpXor, place, s.Imm(ir.OpShl, file, 32)), s.Const(filesFactor))
	number := s.Imm(ir.OpLShr, mixed, 64-log2(wire.UnwindGuesses))
	return s.Op(ir.OpAdd, s.MapValue(tree.MapUnwindGuesses, 0), s.Imm(ir.OpShl, number, 1))
}

// orElse jumps to other where c holds.
func (s *step) orElse(c ir.Cond, x *ir.Value, imm int64, other *ir.Block) {
	s.Unless(c, x, imm, func() { s.Jump(other) })
}

// chunk gives the address of a chunk, and jumps to none if there is no such.
func (s *step) chunk(number *ir.Value, none *ir.Block) *ir.Value {
	segment := s.lookup(s.MapPtr(tree.MapUnwindRows), s.Imm(ir.OpLShr, number, log2(wire.UnwindSegment)), none)
	return s.lookup(segment, s.Imm(ir.OpAnd, number, wire.UnwindSegment-1), none)
}

func (s *step) lookup(m, key *ir.Value, none *ir.Block) *ir.Value {
	s.Store(4, s.Key(), 0, key)
	p := s.Call(int64(asm.FnMapLookupElem), m, s.Key())
	s.orElse(ir.EQ, p, 0, none)
	return p
}
