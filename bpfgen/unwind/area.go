package unwind

import (
	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/wire"
)

// Rules of what is mapped at an address where the table has nothing yet, asked of the kernel.
//
// Where a table has nothing at an address, the kernel says what is mapped there: in a program that has just begun, or a
// library that was just loaded. Rules of a file that another process has had mapped before are there at once then, and
// nobody has to wake up first.

// What is read of a part of memory, in words of the state, and behind it the key of its file.
const (
	areaStart = iota
	areaPlace
	areaFlags
	areaFile
	areaKey

	executable = 4  // in the flags of a part of memory (VM_EXEC)
	noArea     = -2 // what the kernel says where nothing is mapped (ENOENT)
)

// NoteArea notes what the kernel says of a part of memory, by the address of its record.
func (w *Walk) NoteArea(area *ir.Value) {
	of := w.Offsets.Area
	w.fetch(areaStart, 8, area, of.Start)
	w.fetch(areaPlace, 8, area, of.Place)
	w.fetch(areaFlags, 8, area, of.Flags)
	w.fetch(areaKey, 8, area, of.Ops)
	w.fetch(areaFile, 8, area, of.File)
	noFile, done := w.NewBlock(), w.NewBlock()
	hasFile := w.NewBlock()
	w.BranchImm(ir.EQ, w.areaWord(areaFile), 0, noFile, hasFile)
	w.Begin(noFile)
	w.noteVDSO(area, done)
	w.Begin(hasFile)
	w.fetch(areaFile, 8, w.areaWord(areaFile), of.Inode)
	w.noteFile(w.areaWord(areaFile))
	w.Jump(done)
	w.Begin(done)
}

// noteVDSO makes the key of the code that the kernel maps into every process, if the part of memory is that, and goes
// on at done.
func (w *Walk) noteVDSO(area *ir.Value, done *ir.Block) {
	of := w.Offsets.Area
	const file, size = areaFile, areaKey + wire.UnwindFileSize/8
	w.fetch(file, 8, area, of.MM)
	w.fetch(file, 8, w.areaWord(file), of.VDSO)
	is := w.Cmp(ir.EQ, w.areaWord(file), w.areaWord(areaStart))
	w.set(stateWords+8*file, is)
	w.Unless(ir.EQ, is, 0, func() { w.Jump(done) })
	w.fetch(size, 8, area, of.End)
	w.set(stateWords+8*size, w.Op(ir.OpSub, w.areaWord(size), w.areaWord(areaStart)))
	for word := int64(areaKey); word < size; word++ {
		w.set(stateWords+8*word, w.Const(0))
	}
	w.Jump(done)
}

// noteFile makes the key of a file, by the address of its inode.
func (w *Walk) noteFile(inode *ir.Value) {
	of := w.Offsets.Area
	w.fetch(areaKey, 8, inode, of.Super)
	w.fetch(areaKey, 4, w.areaWord(areaKey), of.Device)
	key := func(off int64, size int64, at int) {
		w.Call(int64(asm.FnProbeReadKernel), w.Add(w.Memory(), w.State+stateWords+8*areaKey+off), w.Const(size),
			w.Add(inode, int64(at)))
	}
	key(wire.UnwindFileNano, 4, of.Nano)
	key(wire.UnwindFileSeconds, 8, of.Seconds)
	key(wire.UnwindFileInode, 8, of.Number)
	key(wire.UnwindFileSize, 8, of.Size)
}

func (w *Walk) areaWord(n int64) *ir.Value { return w.get(stateWords + 8*n) }

// fetch reads some bytes of the kernel's memory into a word. What cannot be read is 0.
func (w *Walk) fetch(word, size int64, at *ir.Value, off int) {
	w.Call(int64(asm.FnProbeReadKernel), w.Add(w.Memory(), w.State+stateWords+8*word), w.Const(size),
		w.Add(at, int64(off)))
}

// pendingIf notes that the walk comes through code whose rules are not there, if x is 1.
func (s *step) pendingIf(x *ir.Value) { s.set(statePending, s.Op(ir.OpOr, s.get(statePending), x)) }

// area looks for what is mapped at pc, of which the table says nothing, or what can be over, and goes on at entered if
// it is code, with what tells its file apart.
func (s *step) area(entered *ir.Block) {
	if s.FindArea == nil {
		s.unmapped()
		return
	}
	nothing := s.NewBlock()
	rc := s.FindArea(s.pc)
	s.orElse(ir.EQ, rc, noArea, nothing)
	s.Unless(ir.NE, rc, 0, func() { s.unasked(entered, nothing) })
	s.orElse(ir.EQ, s.Imm(ir.OpAnd, s.areaWord(areaFlags), executable), 0, nothing)
	start := s.areaWord(areaStart)
	s.set(stateStart, start)
	s.set(stateSize, s.Add(s.Op(ir.OpSub, s.pc, start), 1))
	s.set(stateBase, start)
	ofFile, made := s.NewBlock(), s.NewBlock()
	s.BranchImm(ir.EQ, s.areaWord(areaFile), 0, made, ofFile)
	s.Begin(made) // by a program itself, or by the kernel, whose code has functions that care for it
	s.orElse(ir.NE, s.areaWord(areaKey), 0, nothing)
	s.set(stateChunk, s.Const(0))
	s.Jump(entered, s.Const(0))
	s.Begin(ofFile)
	s.file(start, entered)
	s.Begin(nothing)
	s.unmapped()
}

// unasked is for where the kernel does not say what is mapped: the lock of the memory is taken, or it was asked before
// where interrupts are off. The table serves, if it has something there.
func (s *step) unasked(entered, nothing *ir.Block) {
	inside, outside := s.NewBlock(), s.NewBlock()
	s.Branch(ir.ULT, s.Op(ir.OpSub, s.pc, s.get(stateStart)), s.get(stateSize), inside, outside)
	s.Begin(inside)
	s.Jump(entered, s.get(stateChunk))
	s.Begin(outside)
	s.endIf(ir.NE, s.get(stateBehind), behindCall, wire.UnwindNoTable)
	s.pendingIf(s.Const(1))
	s.Jump(nothing)
}

// file looks for the rules of the file that is mapped from start on.
func (s *step) file(start *ir.Value, entered *ir.Block) {
	pending := s.NewBlock()
	loaded := s.Op(ir.OpSub, start, s.Imm(ir.OpShl, s.areaWord(areaPlace), log2(wire.UnwindPage)))
	value := s.Call(int64(asm.FnMapLookupElem), s.MapPtr(tree.MapUnwindFiles),
		s.Add(s.Memory(), s.State+stateWords+8*areaKey))
	s.orElse(ir.EQ, value, 0, pending)
	first := s.Op(ir.OpAdd, loaded, s.Load(8, value, wire.UnwindFilePlace))
	size := s.Load(8, value, wire.UnwindFileBytes)
	inside := s.NewBlock()
	s.Branch(ir.ULT, s.Op(ir.OpSub, s.pc, first), size, inside, pending)
	s.Begin(inside)
	s.set(stateStart, first)
	s.set(stateSize, size)
	s.set(stateBase, s.Op(ir.OpAdd, loaded, s.Load(8, value, wire.UnwindFileDistance)))
	chunk := s.Load(4, value, wire.UnwindFileChunk)
	s.set(stateChunk, chunk)
	s.pythonOf(first, size, s.Load(4, value, wire.UnwindFilePython))
	s.Jump(entered, chunk)
	s.Begin(pending)
	s.set(stateChunk, s.Const(wire.UnwindPending))
	s.Jump(entered, s.Imm(ir.OpXor, s.areaWord(areaKey+wire.UnwindFileInode/8), wire.UnwindAsk))
}

// pythonOf notes that frames of Python are left out, if the code from first on has an interpreter and the table does
// not say yet where that has them. The table says it of a library that was loaded, too, of which the kernel is asked
// each time.
func (s *step) pythonOf(first, size, is *ir.Value) {
	evaluator := python{s}.where(wire.PythonEval)
	unsaid := s.Cmp(ir.UGE, s.Op(ir.OpSub, evaluator, first), size)
	s.pendingIf(s.Op(ir.OpAnd, is, unsaid))
}
