package unwind

import (
	"math"

	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/internal/wire"
)

// The instructions that take frames of functions of Python in a walk.
//
// Frames of functions of Python (package wire, "Frames of Python") are taken behind the frame of the evaluator that
// runs them, each in a round of the walk of its own. What cannot be read, as memory that is not there at the moment,
// leaves them out of the rest of the stack, and the walk goes on.

// pythonKnown, as statePythonThread, says that the thread was looked for.
const pythonKnown = 1

// python is the part of a step that concerns frames of Python.
type python struct{ *step }

// where is a word of the table.
func (p python) where(field int64) *ir.Value { return p.Load(8, p.Table, wire.UnwindPython+8*field) }

// enter notes that the frame which was counted is one of the evaluator.
func (p python) enter() {
	inside, other := p.NewBlock(), p.NewBlock()
	p.Branch(ir.ULT, p.Op(ir.OpSub, p.pc, p.where(wire.PythonEval)), p.where(wire.PythonSize), inside, other)
	p.Begin(inside)
	p.set(stateInPython, p.Const(1))
	p.Jump(other)
	p.Begin(other)
}

// frames takes the next frame of a function while there is one of this call of the evaluator, and ends the round.
func (p python) frames(count *ir.Value) {
	lost := p.NewBlock()
	p.Unless(ir.NE, p.get(stateInPython), 0, func() {
		thread := p.get(statePythonThread)
		p.Unless(ir.EQ, thread, pythonKnown, func() { p.frame(count, lost) })
		p.find(thread, lost)
	})
	native := p.NewBlock()
	p.Jump(native)
	p.Begin(lost)
	p.set(statePythonThread, p.Const(pythonKnown))
	p.set(statePython, p.Const(0))
	p.leave()
	p.Begin(native)
}

// leave ends the round, and the frames of this call of the evaluator.
func (p python) leave() {
	p.set(stateInPython, p.Const(0))
	p.Jump(p.on)
}

// read reads some bytes of the program's memory. What cannot be read leads to lost.
func (p python) read(from *ir.Value, size int, lost *ir.Block) *ir.Value {
	failed := p.Call(int64(asm.FnProbeReadUser), p.Add(p.Memory(), p.State+stateWords), p.Const(int64(size)), from)
	p.orElse(ir.NE, failed, 0, lost)
	return p.Load(size, p.Memory(), p.State+stateWords)
}

// readWords reads words of the program's memory.
func (p python) readWords(from *ir.Value, n int, lost *ir.Block) {
	failed := p.Call(int64(asm.FnProbeReadUser), p.Add(p.Memory(), p.State+stateWords), p.Const(int64(8*n)), from)
	p.orElse(ir.NE, failed, 0, lost)
}

// in reads a word of a struct, by the word of the table that says where it is there.
func (p python) in(object *ir.Value, field int64, lost *ir.Block) *ir.Value {
	return p.read(p.Op(ir.OpAdd, object, p.where(field)), 8, lost)
}

// find looks at one thread of the interpreter, the first one if thread is 0.
func (p python) find(thread *ir.Value, lost *ir.Block) {
	have := p.NewBlock()
	at := p.Param(have)
	first, next := p.NewBlock(), p.NewBlock()
	p.BranchImm(ir.EQ, thread, 0, first, next)
	p.Begin(first)
	p.readWords(p.Add(p.where(wire.PythonMain), -8), 2, lost)
	newest, main := p.word(0), p.word(1)
	p.orElse(ir.NE, p.Op(ir.OpSub, newest, main), 0, lost) // nobody knows which of several runs
	p.Jump(have, p.in(main, wire.PythonThreads, lost))
	p.Begin(next)
	p.Jump(have, thread)
	p.Begin(have)
	p.orElse(ir.EQ, at, 0, lost)
	same, other := p.NewBlock(), p.NewBlock()
	p.Branch(ir.EQ, p.in(at, wire.PythonThread, lost), p.self(), same, other)
	p.Begin(same)
	p.set(statePython, p.innermost(at, lost))
	p.set(statePythonThread, p.Const(pythonKnown))
	p.Jump(p.on)
	p.Begin(other)
	following := p.in(at, wire.PythonNext, lost)
	p.orElse(ir.EQ, following, 0, lost)
	p.set(statePythonThread, following)
	p.Jump(p.on)
}

// self is how Python knows the thread that runs: by the address of its own variables, or by its number where the C
// library keeps something before these.
func (p python) self() *ir.Value {
	if p.Convention.link {
		return p.Imm(ir.OpAnd, p.Call(int64(asm.FnGetCurrentPidTgid)), math.MaxUint32)
	}
	task := p.Add(p.Call(int64(asm.FnGetCurrentTask)), p.Offsets.Thread)
	p.Call(int64(asm.FnProbeReadKernel), p.Add(p.Memory(), p.State+stateWords), p.Const(8), task)
	return p.word(0)
}

// innermost is the frame that a thread runs.
func (p python) innermost(thread *ir.Value, lost *ir.Block) *ir.Value {
	direct := p.in(thread, wire.PythonFrame, lost)
	out, through := p.NewBlock(), p.NewBlock()
	frame := p.Param(out)
	indirect := p.where(wire.PythonIndirect)
	here := p.NewBlock()
	p.BranchImm(ir.EQ, indirect, 0, here, through)
	p.Begin(here)
	p.Jump(out, direct)
	p.Begin(through)
	p.Jump(out, p.read(p.Add(p.Op(ir.OpAdd, direct, indirect), -1), 8, lost))
	p.Begin(out)
	return frame
}

// frame takes the frame of a function, if there is one.
func (p python) frame(count *ir.Value, lost *ir.Block) {
	frame := p.get(statePython)
	p.orElse(ir.EQ, frame, 0, lost)
	p.readWords(frame, wire.PythonFrameWords, lost)
	mark := p.of(wire.PythonMark, 1)
	code, place := p.of(wire.PythonCode, 8), p.of(wire.PythonPlace, 8)
	p.set(statePython, p.of(wire.PythonPrevious, 8))
	inner, last, taken := p.NewBlock(), p.NewBlock(), p.NewBlock()
	p.Branch(ir.EQ, mark, p.where(wire.PythonLast), last, inner)
	p.Begin(last)
	p.set(stateInPython, p.Const(0))
	p.BranchImm(ir.EQ, p.where(wire.PythonIsFrame), 0, taken, inner)
	p.Begin(inner)
	p.count(count, code, place, lost)
	p.Jump(p.on)
	p.Begin(taken)
	p.Jump(p.on)
}

// of is what lies in the struct that was read last, by the word of the table that says where.
func (p python) of(field, size int64) *ir.Value {
	const most = 8 * maxWords
	at := p.Imm(ir.OpAnd, p.where(field), most-size)
	return p.Load(int(size), p.Op(ir.OpAdd, p.Add(p.Memory(), p.State+stateWords), at), 0)
}

// count adds a frame of code to the stack.
func (p python) count(count, code, place *ir.Value, lost *ir.Block) {
	behind := p.Op(ir.OpSub, place, p.Op(ir.OpAdd, code, p.where(wire.PythonBegin)))
	unit := p.Add(p.Imm(ir.OpAShr, behind, 1), 1)
	said, far := p.NewBlock(), p.NewBlock()
	shown := p.Param(said)
	near := p.NewBlock()
	p.BranchImm(ir.ULT, unit, wire.PythonFarAway, near, far)
	p.Begin(near)
	p.Jump(said, unit)
	p.Begin(far)
	p.Jump(said, p.Const(wire.PythonFarAway))
	p.Begin(said)
	word := p.Op(ir.OpOr, p.where(wire.PythonVersion), p.Imm(ir.OpShl, shown, wire.PythonPlaceShift))
	word = p.Op(ir.OpOr, word, p.Imm(ir.OpShl, p.identity(code, lost), wire.PythonIdentityShift))
	word = p.Op(ir.OpOr, word, p.Op(ir.OpAnd, p.Imm(ir.OpLShr, code, wire.PythonAlign), p.Const(math.MaxUint32)))
	p.Store(8, p.Op(ir.OpAdd, p.Memory(), p.Imm(ir.OpShl, count, 3)), p.Addrs, word)
	p.set(stateCount, p.Add(count, 1))
}

// identity is that of code (wire.PythonIdentity).
func (p python) identity(code *ir.Value, lost *ir.Block) *ir.Value {
	line := p.read(p.Op(ir.OpAdd, code, p.where(wire.PythonLine)), 4, lost)
	p.readWords(p.Op(ir.OpAdd, code, p.where(wire.PythonFile)), 4, lost)
	file, name, lines := p.word(0), p.word(1), p.word(3)
	hash := p.read(p.Add(name, wire.PythonHash), 8, lost)
	p.readWords(p.Add(file, wire.PythonLength), 3, lost)
	length, state := p.word(0), p.word(2)
	narrow := p.Op(ir.OpMul, p.Imm(ir.OpAnd, p.Imm(ir.OpLShr, state, wire.PythonASCII), 1), p.where(wire.PythonNarrow))
	text := p.Op(ir.OpAdd, file, p.Op(ir.OpSub, p.where(wire.PythonWide), narrow))
	p.readWords(p.Add(p.Op(ir.OpAdd, text, length), -wire.PythonTail), wire.PythonTail/8, lost)
	long := p.Cmp(ir.UGE, length, p.Const(wire.PythonTail))
	mix := p.Const(0)
	for _, word := range []*ir.Value{line, file, name, lines, hash, length, p.Op(ir.OpMul, p.word(0), long),
		p.Op(ir.OpMul, p.word(1), long), p.word(2)} {
		mix = p.Op(ir.OpMul, p.Op(ir.OpXor, mix, word), p.Const(-(1<<64 - wire.PythonMix)))
	}
	return p.Imm(ir.OpLShr, mix, 64-wire.PythonIdentityBits)
}
