package unwind

import (
	"math"

	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/internal/wire"
)

// How a walk goes to the caller's frame by a rule; signatures of return addresses on arm64 (`linkMask`).

// A rule is taken apart: saved says where the frame pointer is, operand is a number with a sign.
type rule struct{ saved, operand *ir.Value }

// apply takes the frame to that of its caller by a rule.
func (s *step) apply(word *ir.Value) {
	m := s.Convention
	kind := s.Imm(ir.OpAnd, word, 1<<wire.UnwindKindBits-1)
	r := rule{
		saved:   s.Imm(ir.OpAnd, s.Imm(ir.OpLShr, word, wire.UnwindKindBits), 1<<m.savedBits-1),
		operand: s.Imm(ir.OpAShr, s.Imm(ir.OpShl, word, 32), int64(32+wire.UnwindKindBits+m.savedBits)),
	}
	frame := s.NewBlock() // with where the caller's frame begins, and where its frame pointer is
	cfa, saved := s.Param(frame), s.Param(frame)
	s.byStack(kind, r, frame)
	s.byFrame(kind, r, frame)
	s.Begin(frame)
	s.caller(kind, cfa, saved)
}

// words is x and n words of 8 bytes.
func (s *step) words(x, n *ir.Value) *ir.Value { return s.Op(ir.OpAdd, x, s.Imm(ir.OpShl, n, 3)) }

// when writes what is done for rules of a kind.
func (s *step) when(kind *ir.Value, is int64, f func()) { s.Unless(ir.EQ, kind, is, f) }

// byStack is for the rules that do not need the frame pointer.
func (s *step) byStack(kind *ir.Value, r rule, frame *ir.Block) {
	sp := func() *ir.Value { return s.get(stateSP) }
	s.when(kind, wire.UnwindSP, func() { s.Jump(frame, s.words(sp(), r.operand), r.saved) })
	s.when(kind, wire.UnwindStop, func() { s.end(wire.UnwindReached) })
	s.when(kind, wire.UnwindSignal, func() {
		s.when(r.operand, wire.UnwindOfSignal, s.signal)
		s.when(r.operand, wire.UnwindOfReturn, s.noFrame)
		n := s.Imm(ir.OpAShr, r.operand, wire.UnwindOfBits)
		of := s.Imm(ir.OpAnd, r.operand, 1<<wire.UnwindOfBits-1)
		s.when(of, wire.UnwindOfInjected, func() { s.injected(r.saved, s.words(sp(), s.Add(n, -1))) })
		if !s.Convention.link {
			s.when(of, wire.UnwindOfLink, func() { s.byLink(kind, n) })
		}
		s.Jump(frame, s.words(s.register(n), s.Imm(ir.OpAShr, n, wire.UnwindRegisterBits)), r.saved)
	})
	s.when(kind, wire.UnwindSPMem, func() { s.indirect(sp(), r, frame) })
	if s.Convention.link {
		s.when(kind, wire.UnwindLinkOnly, func() { s.linkOnly(kind, r) })
		return
	}
	s.when(kind, wire.UnwindStub, func() {
		pushed := s.Op(ir.OpSub, s.Imm(ir.OpAnd, s.pc, 15), r.operand)
		words := s.Op(ir.OpSub, s.Const(2), s.Imm(ir.OpLShr, pushed, 63))
		s.Jump(frame, s.words(sp(), words), s.Const(0))
	})
}

// byFrame is for those that need it. Code without rules is taken to keep frame pointers, as Go's does and what programs
// compile themselves.
func (s *step) byFrame(kind *ir.Value, r rule, frame *ir.Block) {
	have := s.NewBlock()
	saved := s.get(stateSaved)
	read := s.NewBlock()
	s.BranchImm(ir.EQ, saved, 0, have, read)
	s.Begin(read)
	s.read(saved, 0, 1)
	s.set(stateFP, s.word(0))
	s.set(stateSaved, s.Const(0))
	s.Jump(have)
	s.Begin(have)
	fp := s.get(stateFP)
	s.when(kind, wire.UnwindFP, func() { s.Jump(frame, s.words(fp, r.operand), r.saved) })
	s.when(kind, wire.UnwindFPMem, func() { s.indirect(fp, r, frame) })
	above, below := s.NewBlock(), s.NewBlock()
	s.Branch(ir.UGE, fp, s.get(stateSP), above, below)
	s.Begin(below)
	s.when(r.saved, wire.UnwindUnfollowed>>wire.UnwindKindBits, func() { s.end(wire.UnwindNoRule) })
	s.end(wire.UnwindNoFrame)
	s.Begin(above)
	s.orElse(ir.NE, s.Imm(ir.OpAnd, fp, 7), 0, below)
	s.Jump(frame, s.Add(fp, 16), s.Const(2))
}

// byLink is for code of amd64 that keeps its return address in a register.
func (s *step) byLink(kind, n *ir.Value) {
	s.returned(kind, s.words(s.get(stateSP), s.Imm(ir.OpAShr, n, wire.UnwindRegisterBits)), s.register(n))
}

// register is one that the walk does not follow, by its word of struct pt_regs, in the lowest bits of n. The kernel has
// saved it of the frame with which the walk begins.
func (s *step) register(n *ir.Value) *ir.Value {
	saved := s.get(stateRegs)
	s.endIf(ir.EQ, saved, 0, wire.UnwindNoRule)
	s.endIf(ir.NE, s.get(stateCount), 1, wire.UnwindNoRule)
	const registers = 1<<wire.UnwindRegisterBits - 1
	at := s.words(saved, s.Imm(ir.OpAnd, n, registers))
	s.Call(int64(asm.FnProbeReadKernel), s.Add(s.Memory(), s.State+stateWords), s.Const(8), at)
	return s.word(0)
}

// indirect is for a frame whose begin lies in memory: the word at a, and b words more.
func (s *step) indirect(register *ir.Value, r rule, frame *ir.Block) {
	a, b := s.Extend(r.operand, 8, true), s.Imm(ir.OpAShr, r.operand, 8)
	s.read(s.words(register, a), 0, 1)
	s.Jump(frame, s.words(s.word(0), b), r.saved)
}

// read reads n words of the program's memory. Memory that cannot be read ends the walk.
func (s *step) read(from *ir.Value, off int64, n int64) {
	failed := s.Call(int64(asm.FnProbeReadUser), s.Add(s.Memory(), s.State+stateWords), s.Const(8*n), s.Add(from, off))
	s.endIf(ir.NE, failed, 0, wire.UnwindUnreadable)
}

// word is one of those that were read last.
func (s *step) word(n int64) *ir.Value { return s.get(stateWords + 8*n) }

// caller reads where the function returns to. Its frame begins at cfa, and its frame pointer is where saved says.
func (s *step) caller(kind, cfa, saved *ir.Value) {
	if s.Convention.link {
		s.linked(kind, cfa, saved)
		return
	}
	s.progress(kind, 1, cfa)
	fp, pc := s.pair(s.Add(cfa, -16))
	s.Unless(ir.NE, saved, 0, func() { s.savedFP(kind, cfa, saved, fp, pc) })
	s.returned(kind, cfa, pc)
}

// pair is the two words at an address of the stack: out of what was read before, if that has them.
func (s *step) pair(at *ir.Value) (low, high *ir.Value) {
	have := s.NewBlock()
	low, high = s.Param(have), s.Param(have)
	behind := s.Op(ir.OpSub, at, s.get(stateWindow))
	inside, read := s.NewBlock(), s.NewBlock()
	s.BranchImm(ir.ULT, behind, windowSize-15, inside, read)
	s.Begin(inside)
	words := s.Op(ir.OpAdd, s.Memory(), behind)
	s.Jump(have, s.Load(8, words, s.State+stateStack), s.Load(8, words, s.State+stateStack+8))
	s.Begin(read)
	s.set(stateWindow, at)
	to := func() *ir.Value { return s.Add(s.Memory(), s.State+stateStack) }
	failed := s.Call(int64(asm.FnProbeReadUser), to(), s.Const(windowSize), at)
	s.Unless(ir.NE, failed, 0, func() { // the stack ends soon
		s.set(stateWindow, s.Const(noWindow))
		failed := s.Call(int64(asm.FnProbeReadUser), to(), s.Const(16), at)
		s.endIf(ir.NE, failed, 0, wire.UnwindUnreadable)
		s.Jump(have, s.get(stateStack), s.get(stateStack+8))
	})
	s.Jump(have, s.get(stateStack), s.get(stateStack+8))
	s.Begin(have)
	return low, high
}

// savedFP notes where the frame pointer is and goes on at pc, as the code behind Unless does. fp is what lies below the
// return address.
func (s *step) savedFP(kind, cfa, saved, fp, pc *ir.Value) {
	s.when(saved, 2, func() {
		s.set(stateFP, fp)
		s.set(stateSaved, s.Const(0))
		s.returned(kind, cfa, pc)
	})
	s.when(saved, wire.UnwindAtFrame, func() {
		s.set(stateSaved, s.get(stateFP))
		s.returned(kind, cfa, pc)
	})
	s.set(stateSaved, s.words(cfa, s.Op(ir.OpNeg, saved)))
	s.returned(kind, cfa, pc)
}

// stackSize is how near two frames lie that are of one stack. Go's runtime goes from the stack of a goroutine to that
// of a thread and back, each at its own place, and so do handlers of signals.
const stackSize = 1 << 20

// progress ends the walk where cfa lies on the same stack and not above the stack pointer by least bytes: a stack that
// leads back would end at the limit only. Where a table says that the frame pointer has it, the stack can be another
// one, however near: that of a thread of Go's runtime lies among those of goroutines.
func (s *step) progress(kind *ir.Value, least int64, cfa *ir.Value) {
	on, check := s.NewBlock(), s.NewBlock()
	s.BranchImm(ir.EQ, kind, wire.UnwindFP, on, check)
	s.Begin(check)
	s.endIf(ir.ULT, s.Op(ir.OpSub, s.Add(s.get(stateSP), least-1), cfa), stackSize, wire.UnwindNoProgress)
	s.Jump(on)
	s.Begin(on)
}

// returned makes the caller the frame of the state. Who has put 0 where the return address is says that there is no
// caller, where it is known by a rule that it is there.
func (s *step) returned(kind, cfa, pc *ir.Value) {
	s.set(stateSP, cfa)
	s.set(statePC, pc)
	s.set(stateBehind, s.Const(behindCall))
	s.Unless(ir.EQ, pc, 0, func() {
		s.endIf(ir.NE, kind, wire.UnwindNone, wire.UnwindReached)
		s.end(wire.UnwindNoMapping)
	})
	s.Jump(s.on)
}

// signal goes on with what a signal has interrupted: the kernel has put its registers on the stack, which may be
// another one than that of the signal.
func (s *step) signal() {
	m := s.Convention
	s.read(s.get(stateSP), m.signal, m.signalWords)
	s.set(stateFP, s.word(m.signalFP))
	s.set(stateSP, s.word(m.signalSP))
	s.set(statePC, s.Op(ir.OpOr, s.word(m.signalPC), s.Const(math.MinInt64)))
	if m.link {
		s.set(stateLink, s.word(m.signalLink))
	}
	s.set(stateSaved, s.Const(0))
	s.set(stateBehind, s.Const(0))
	s.Jump(s.on)
}

// injected goes on with what the runtime of Go has interrupted as by a call: what it returns to is where the frame is.
// All of its functions save the frame pointer beside the return address, if they have begun.
func (s *step) injected(saved, cfa *ir.Value) {
	if s.Convention.link {
		s.injectedLink(saved, cfa)
		return
	}
	s.read(cfa, -16, 2)
	s.interrupted(cfa, s.word(1), saved, s.word(0))
}

// injectedLink is injected of arm64. Return address and frame pointer are in their registers before they are saved.
func (s *step) injectedLink(saved, cfa *ir.Value) {
	begun := s.NewBlock()
	s.Unless(ir.EQ, saved, 0, func() {
		s.set(stateWords+8, s.get(stateLink))
		s.Jump(begun)
	})
	s.read(s.words(cfa, s.Op(ir.OpNeg, saved)), 0, 2)
	s.Jump(begun)
	s.Begin(begun)
	fp, pc := s.word(0), s.Op(ir.OpAnd, s.word(1), s.Const(linkMask))
	s.read(cfa, 0, 1)
	s.set(stateLink, s.word(0))
	s.interrupted(s.Add(cfa, wire.UnwindInjectedSize), pc, saved, fp)
}

// interrupted goes on at pc, which is not behind a call. The frame pointer is fp if it was saved.
func (s *step) interrupted(sp, pc, saved, fp *ir.Value) {
	s.set(stateSP, sp)
	s.set(statePC, pc)
	s.set(stateBehind, s.Const(0))
	s.Unless(ir.EQ, saved, 0, func() { s.Jump(s.on) })
	s.set(stateFP, fp)
	s.set(stateSaved, s.Const(0))
	s.Jump(s.on)
}

// linkMask takes the signature off a return address (pointer authentication): user addresses have 48 bits.
const linkMask = 1<<48 - 1

// linked is caller where calls leave the return address in the link register: the frame pointer and it are saved
// together, or they are in their registers. In these they are at the first frame only, and at one that a signal has
// interrupted.
func (s *step) linked(kind, cfa, saved *ir.Value) {
	s.Unless(ir.EQ, saved, 0, func() {
		s.endIf(ir.EQ, s.get(stateBehind), behindCall, wire.UnwindNoProgress)
		s.progress(kind, 0, cfa)
		s.returned(kind, cfa, s.Op(ir.OpAnd, s.get(stateLink), s.Const(linkMask)))
	})
	s.progress(kind, 1, cfa)
	pair := s.NewBlock()
	at := s.Param(pair)
	s.when(saved, wire.UnwindAtStack, func() { s.Jump(pair, s.get(stateSP)) })
	s.Jump(pair, s.words(cfa, s.Op(ir.OpNeg, saved)))
	s.Begin(pair)
	fp, pc := s.pair(at)
	s.set(stateFP, fp)
	s.returned(kind, cfa, s.Op(ir.OpAnd, pc, s.Const(linkMask)))
}

// linkOnly is for functions that save the link register alone.
func (s *step) linkOnly(kind *ir.Value, r rule) {
	cfa := s.words(s.get(stateSP), r.operand)
	s.progress(kind, 1, cfa)
	s.read(s.words(cfa, s.Op(ir.OpNeg, r.saved)), 0, 1)
	s.returned(kind, cfa, s.Op(ir.OpAnd, s.word(0), s.Const(linkMask)))
}
