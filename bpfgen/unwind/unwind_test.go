package unwind

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/ir/irtest"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/wire"
)

// Where things lie in the program whose stack is walked: its code, whose first page is all that has rules, more code
// that has none, and its stack.
const (
	code      = 0x400000
	compiled  = 0x700000
	stack     = 0x7ffc_0000_1000
	firstFile = 3 // its first chunk
)

// Where the kernel keeps return addresses that it has replaced, and the places in what leads there.
const task, utask, record = 0x1000, 0x2000, 0x3000

var offsets = tree.WalkOffsets{Utask: 8, Instances: 16, InstanceStack: 24, InstanceReturn: 32, InstanceNext: 40,
	Thread: 48}

// A row says that a rule holds from a place in the code on.
type row struct{ place, rule uint32 }

// amd64 and arm64 make rules: of a kind, with the words below CFA at which the frame pointer is saved, and an operand.
func amd64(kind, saved uint32, operand int32) uint32 { return kind | saved<<3 | uint32(operand)<<11 }
func arm64(kind, saved uint32, operand int32) uint32 { return kind | saved<<3 | uint32(operand)<<14 }

// byLink is the operand of a rule of code whose return address is a word of struct pt_regs.
func byLink(word, add int32) int32 {
	return byRegister(word, add) + wire.UnwindOfLink - wire.UnwindOfRegister
}

// byRegister is the operand of a rule by a word of struct pt_regs.
func byRegister(word, add int32) int32 {
	return wire.UnwindOfRegister | word<<wire.UnwindOfBits | add<<(wire.UnwindOfBits+wire.UnwindRegisterBits)
}

// A scene is a program at a moment.
type scene struct {
	convention *Convention
	rows       []row
	// pc, sp, fp and link are its registers, and words what lies in its memory; other memory cannot be read.
	pc, sp, fp, link int64
	words            map[int64]int64
	kernel           map[int64]int64 // memory of the kernel
	saved            int64           // where it keeps the registers
	atEntry          bool
	inSyscall        bool  // the program stands behind the instruction of a system call
	most             int64 // frames, 0: 20
	guess            uint16
	dense            bool // all memory of the stack can be read
}

// guesses are rows that other walks have found last.
func guesses(row uint16) []byte {
	return bytes.Repeat(binary.LittleEndian.AppendUint16(nil, row), wire.UnwindGuesses)
}

// walk executes the walk along the stack of a scene: the addresses that it finds, and why it ends.
func walk(t *testing.T, s scene) (addrs []int64, why int64) {
	t.Helper()
	const room, maxFrames = 20, 20
	b := ir.NewBuilder(ir.NewFunc("walk"))
	key := b.Func.NewSlot(8)
	w := &Walk{Builder: b, Convention: s.convention, Memory: func() *ir.Value { return b.MapValue("memory", 0) },
		State: 8 * room, Most: s.most, Offsets: &offsets, AtEntry: s.atEntry, Table: b.MapValue("table", 0),
		Key: func() *ir.Value { return b.SlotAddr(key, 0) }}
	if w.Most == 0 {
		w.Most = maxFrames
	}
	w.Start(Registers{PC: b.Const(s.pc), SP: b.Const(s.sp), FP: b.Const(s.fp), Link: b.Const(s.link),
		Saved: b.Const(s.saved), Behind: b.Const(map[bool]int64{true: 1}[s.inSyscall])})
	on, stop := b.NewBlock(), b.NewBlock()
	head := b.NewBlock()
	b.Jump(head)
	b.Begin(head)
	w.Step(on, stop)
	b.Begin(on)
	b.Jump(head)
	b.Begin(stop)
	b.Ret(w.Why())
	b.Func.Prune()
	if err := b.Func.Check(); err != nil {
		t.Fatal(err)
	}
	m := &irtest.Machine{Maps: map[string][]byte{"memory": make([]byte, 8*room+StateSize), "table": table(),
		"chunks": chunks(s.rows), tree.MapUnwindRows: make([]byte, 8),
		tree.MapUnwindGuesses: guesses(s.guess)}}
	m.Helper = func(helper int64, args []int64) (int64, bool, error) { return s.helper(m, helper, args) }
	why, err := m.Run(b.Func)
	if err != nil {
		t.Fatal(err)
	}
	word := func(off int64) int64 { return int64(binary.LittleEndian.Uint64(m.Maps["memory"][off:])) }
	for i := range word(8*room + stateCount) {
		addrs = append(addrs, word(8*i))
	}
	return addrs, why
}

// table has two mappings of code.
func table() []byte {
	b := make([]byte, wire.UnwindTable)
	for i := range wire.UnwindMappings {
		binary.LittleEndian.PutUint64(b[8*i:], wire.UnwindBehind)
	}
	set := func(i int, start, base uint64, pages, chunk uint32) {
		binary.LittleEndian.PutUint64(b[8*i:], start)
		e := b[wire.UnwindEntries+wire.UnwindEntrySize*i:]
		binary.LittleEndian.PutUint64(e[wire.UnwindEntryBase:], base)
		binary.LittleEndian.PutUint32(e[wire.UnwindEntryPages:], pages)
		binary.LittleEndian.PutUint32(e[wire.UnwindEntryChunk:], chunk)
	}
	set(0, 0, 0, 0, 0)
	set(1, code, code, 2, firstFile)
	set(2, compiled, compiled, 1, 0)
	for i, word := range interpreter {
		binary.LittleEndian.PutUint64(b[wire.UnwindPython+8*i:], word)
	}
	return b
}

// chunks has the index and the rows of the file.
func chunks(rows []row) []byte {
	b := make([]byte, (firstFile+2)*wire.UnwindChunk)
	binary.LittleEndian.PutUint16(b[firstFile*wire.UnwindChunk:], 1)
	places := b[(firstFile+1)*wire.UnwindChunk:]
	for i := range wire.UnwindChunk / 2 {
		places[i] = 0xff
	}
	for i, r := range append([]row{{0, wire.UnwindNone}}, rows...) {
		binary.LittleEndian.PutUint32(places[4*i:], r.place)
		binary.LittleEndian.PutUint32(places[wire.UnwindChunk/2+4*i:], r.rule)
	}
	return b
}

// segments is where maps of chunks have their addresses: no memory lies there.
const segments = 1 << 60

func (s *scene) helper(m *irtest.Machine, helper int64, args []int64) (int64, bool, error) {
	switch asm.BuiltinFunc(helper) {
	case asm.FnMapLookupElem:
		key, err := m.Bytes(args[1], 4)
		if err != nil {
			return 0, true, err
		}
		n := int64(binary.LittleEndian.Uint32(key))
		if args[0] < segments {
			return segments + n*wire.UnwindSegment, true, nil
		}
		chunk := args[0] - segments + n
		base, err := m.MapAddress("chunks")
		if size := len(m.Maps["chunks"]); err != nil || int(chunk)*wire.UnwindChunk >= size {
			return 0, true, err
		}
		return base + chunk*wire.UnwindChunk, true, nil
	case asm.FnGetCurrentTask:
		return task, true, nil
	case asm.FnProbeReadUser:
		if s.dense && args[1] > 16 {
			return readAll(m, s.words, args)
		}
		return read(m, s.words, args)
	case asm.FnProbeReadKernel:
		return read(m, s.kernel, args)
	}
	return 0, false, nil
}

// read copies words to the program, or fails as a whole.
func read(m *irtest.Machine, words map[int64]int64, args []int64) (int64, bool, error) {
	to, err := m.Bytes(args[0], int(args[1]))
	if err != nil {
		return 0, true, err
	}
	for off := int64(0); off < args[1]; off += 8 {
		word, ok := words[args[2]+off]
		if !ok {
			return -14, true, nil // -EFAULT
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], uint64(word))
		copy(to[off:], b[:])
	}
	return 0, true, nil
}

// readAll copies words to the program. What is not said is some number.
func readAll(m *irtest.Machine, words map[int64]int64, args []int64) (int64, bool, error) {
	all := maps.Clone(words)
	for off := int64(0); off < args[1]; off += 8 {
		if _, ok := all[args[2]+off]; !ok {
			all[args[2]+off] = 0x5a5a
		}
	}
	return read(m, all, args)
}

// Frames by each kind of rule, on both machines, and each way in which a walk ends.
func TestWalk(t *testing.T) {
	// Functions lie at 0x100, 0x200 and so on; a return address is 0x50 behind the begin of one.
	at := func(function int64) int64 { return code + function<<8 + 0x50 }
	const stopRow = wire.UnwindStop
	exact := func(pc int64) int64 { return pc | -1<<63 }
	for name, test := range map[string]struct {
		scene
		want []int64
		why  int64
	}{
		"stack pointer": {scene{convention: AMD64,
			rows: []row{{0x100, amd64(wire.UnwindSP, 0, 1)}, {0x200, amd64(wire.UnwindSP, 0, 4)}, {0x300, stopRow}},
			pc:   at(1), sp: stack,
			words: map[int64]int64{stack - 8: 0, stack: at(2), stack + 24: 0, stack + 32: at(3)},
		}, []int64{at(1), at(2), at(3)}, wire.UnwindReached},
		"the call lies before the return address": {scene{convention: AMD64,
			rows: []row{{0x100, amd64(wire.UnwindSP, 0, 1)}, {0x200, amd64(wire.UnwindStop, 0, 0)},
				{0x250, amd64(wire.UnwindNone, 0, 0)}},
			pc: at(1), sp: stack, words: map[int64]int64{stack - 8: 0, stack: at(2)},
		}, []int64{at(1), at(2)}, wire.UnwindReached},
		"a system call lies before the first address": {scene{convention: AMD64, inSyscall: true,
			rows: []row{{0x100, amd64(wire.UnwindSP, 0, 2)}, {0x150, amd64(wire.UnwindSP, 0, 1)}, {0x200, stopRow}},
			pc:   at(1), sp: stack, words: map[int64]int64{stack: compiled, stack + 8: at(2)},
		}, []int64{exact(at(1)), at(2)}, wire.UnwindReached},
		"arm64: a system call in a function without a frame": {scene{convention: ARM64, inSyscall: true,
			rows: []row{{0x100, arm64(wire.UnwindSP, 0, 0)}, {0x150, arm64(wire.UnwindNone, 0, 0)}, {0x200, stopRow}},
			pc:   at(1), sp: stack, link: at(2),
		}, []int64{exact(at(1)), at(2)}, wire.UnwindReached},
		"a system call outside of code": {scene{convention: AMD64, inSyscall: true, pc: 0x12345, sp: stack},
			[]int64{exact(0x12345)}, wire.UnwindNoMapping},
		"frame pointer, saved beside the return address": {scene{convention: AMD64,
			rows: []row{{0x100, amd64(wire.UnwindSP, 2, 2)}, {0x200, amd64(wire.UnwindFP, 2, 2)}, {0x300, stopRow}},
			pc:   at(1), sp: stack,
			words: map[int64]int64{stack: stack + 0x40, stack + 8: at(2), stack + 0x40: 0, stack + 0x48: at(3)},
		}, []int64{at(1), at(2), at(3)}, wire.UnwindReached},
		"frame pointer, to another stack that lies a little below": {scene{convention: AMD64,
			rows: []row{{0x100, amd64(wire.UnwindFP, 2, 2)}, {0x200, stopRow}},
			pc:   at(1), sp: stack, fp: stack - 0x400,
			words: map[int64]int64{stack - 0x400: 0, stack - 0x3f8: at(2)},
		}, []int64{at(1), at(2)}, wire.UnwindReached},
		"frame pointer, saved elsewhere and read later": {scene{convention: AMD64,
			rows: []row{{0x100, amd64(wire.UnwindSP, 4, 4)}, {0x200, amd64(wire.UnwindSP, 0, 2)},
				{0x300, amd64(wire.UnwindFP, 0, 2)}, {0x400, stopRow}},
			pc: at(1), sp: stack,
			words: map[int64]int64{stack: stack + 0x80, stack + 0x10: 0, stack + 0x18: at(2), stack + 0x20: 0,
				stack + 0x28: at(3), stack + 0x80: 0, stack + 0x88: at(4)},
		}, []int64{at(1), at(2), at(3), at(4)}, wire.UnwindReached},
		"frame pointer, saved where it leads itself": {scene{convention: AMD64,
			rows: []row{{0x100, amd64(wire.UnwindFPMem, wire.UnwindAtFrame, int32(-1&0xff))},
				{0x200, amd64(wire.UnwindFP, 0, 2)}, {0x300, stopRow}},
			pc: at(1), sp: stack, fp: stack + 0x20,
			words: map[int64]int64{stack + 0x18: stack + 0x60, stack + 0x50: 0, stack + 0x58: at(2),
				stack + 0x20: stack + 0x80, stack + 0x80: 0, stack + 0x88: at(3)},
		}, []int64{at(1), at(2), at(3)}, wire.UnwindReached},
		"in memory at the stack pointer": {scene{convention: AMD64,
			rows: []row{{0x100, amd64(wire.UnwindSPMem, 0, 3|1<<8)}, {0x200, stopRow}}, pc: at(1), sp: stack,
			words: map[int64]int64{stack + 24: stack + 0x60, stack + 0x58: 0, stack + 0x60: at(2)},
		}, []int64{at(1), at(2)}, wire.UnwindReached},
		"stub, before it has pushed": {scene{convention: AMD64,
			rows: []row{{0x100, amd64(wire.UnwindStub, 0, 11)}, {0x200, stopRow}}, pc: code + 0x12a, sp: stack,
			words: map[int64]int64{stack - 8: 0, stack: at(2)},
		}, []int64{code + 0x12a, at(2)}, wire.UnwindReached},
		"stub, behind": {scene{convention: AMD64,
			rows: []row{{0x100, amd64(wire.UnwindStub, 0, 11)}, {0x200, stopRow}}, pc: code + 0x12b, sp: stack,
			words: map[int64]int64{stack: 7, stack + 8: at(2)},
		}, []int64{code + 0x12b, at(2)}, wire.UnwindReached},
		"signal, on another stack": {scene{convention: AMD64,
			rows: []row{{0x100, amd64(wire.UnwindSP, 0, 1)}, {0x200, amd64(wire.UnwindSignal, 0, 0)},
				{0x300, amd64(wire.UnwindSP, 0, 1)}, {0x400, stopRow}},
			pc: at(1), sp: stack,
			words: signalWords(map[int64]int64{stack - 8: 0, stack: at(2), stack - 0x4008: 0, stack - 0x4000: at(4)},
				stack+8+120, 0, 0, 0, 0, 0, stack-0x4000, code+0x300),
		}, []int64{at(1), at(2), exact(code + 0x300), at(4)}, wire.UnwindReached},
		"a call that the runtime of Go has made": {scene{convention: AMD64,
			rows: []row{{0x100, amd64(wire.UnwindSignal, 2, 4<<wire.UnwindOfBits)}, {0x200, stopRow},
				{0x250, amd64(wire.UnwindFP, 2, 2)}, {0x300, stopRow}},
			pc: at(1), sp: stack,
			words: map[int64]int64{stack + 8: stack + 0x40, stack + 16: at(2), stack + 0x40: 0, stack + 0x48: at(3)},
		}, []int64{at(1), at(2), at(3)}, wire.UnwindReached},
		"one of which the function has not begun": {scene{convention: AMD64,
			rows: []row{{0x100, amd64(wire.UnwindSignal, 0, 2<<wire.UnwindOfBits)}, {0x200, stopRow},
				{0x250, amd64(wire.UnwindFP, 2, 2)}, {0x300, stopRow}},
			pc: at(1), sp: stack, fp: stack + 0x40,
			words: map[int64]int64{stack - 8: 0, stack: at(2), stack + 0x40: 0, stack + 0x48: at(3)},
		}, []int64{at(1), at(2), at(3)}, wire.UnwindReached},
		"arm64: a call that the runtime of Go has made": {scene{convention: ARM64,
			rows: []row{{0x100, arm64(wire.UnwindSignal, 4, 4<<wire.UnwindOfBits)}, {0x200, stopRow},
				{0x250, arm64(wire.UnwindSP, 0, 0)}, {0x300, arm64(wire.UnwindFP, 2, 2)}, {0x400, stopRow}},
			pc: at(1), sp: stack,
			words: map[int64]int64{stack - 8: stack + 0x40, stack: at(2), stack + 24: at(3), stack + 0x40: 0,
				stack + 0x48: at(4)},
		}, []int64{at(1), at(2), at(3), at(4)}, wire.UnwindReached},
		"arm64: one of which the function has not begun": {scene{convention: ARM64,
			rows: []row{{0x100, arm64(wire.UnwindSignal, 0, 1<<wire.UnwindOfBits)}, {0x200, stopRow},
				{0x250, arm64(wire.UnwindSP, 0, 0)}, {0x300, stopRow}},
			pc: at(1), sp: stack, link: at(2), words: map[int64]int64{stack: at(3)},
		}, []int64{at(1), at(2), at(3)}, wire.UnwindReached},
		"code without rules, by frame pointers": {scene{convention: AMD64, rows: []row{{0x200, stopRow}},
			pc: compiled + 8, sp: stack, fp: stack + 16,
			words: map[int64]int64{stack + 16: stack + 32, stack + 24: compiled + 99, stack + 32: 0, stack + 40: at(2)},
		}, []int64{compiled + 8, compiled + 99, at(2)}, wire.UnwindReached},
		"code without rules and frame pointers": {scene{convention: AMD64, pc: compiled + 8, sp: stack, fp: 8},
			[]int64{compiled + 8}, wire.UnwindNoFrame},
		"code with a rule that cannot be said": {scene{convention: AMD64, rows: []row{{0x100, wire.UnwindUnfollowed}},
			pc: at(1), sp: stack, fp: 8}, []int64{at(1)}, wire.UnwindNoRule},
		"and with a frame pointer that is none": {scene{convention: AMD64, rows: []row{{0x100, wire.UnwindUnfollowed}},
			pc: at(1), sp: stack, fp: stack + 4}, []int64{at(1)}, wire.UnwindNoRule},
		"and with a frame pointer": {scene{convention: AMD64,
			rows: []row{{0x100, wire.UnwindUnfollowed}, {0x200, stopRow}}, pc: at(1), sp: stack, fp: stack + 16,
			words: map[int64]int64{stack + 16: 0, stack + 24: at(2)},
		}, []int64{at(1), at(2)}, wire.UnwindReached},
		"entry without a rule": {scene{convention: AMD64, rows: []row{{0x200, stopRow}}, atEntry: true,
			pc: compiled, sp: stack, fp: 8, words: map[int64]int64{stack - 8: 0, stack: at(2)},
		}, []int64{compiled, at(2)}, wire.UnwindReached},
		"no code is mapped": {scene{convention: AMD64, rows: []row{{0x100, amd64(wire.UnwindSP, 0, 1)}}, pc: at(1),
			sp: stack, words: map[int64]int64{stack - 8: 0, stack: 0x12345}}, []int64{at(1)}, wire.UnwindNoMapping},
		"no return address": {scene{convention: AMD64, rows: []row{{0x100, amd64(wire.UnwindSP, 0, 1)}}, pc: at(1),
			sp: stack, words: map[int64]int64{stack - 8: 0, stack: 0}}, []int64{at(1)}, wire.UnwindReached},
		"no return address, by frame pointers": {scene{convention: AMD64, pc: compiled + 8, sp: stack, fp: stack + 16,
			words: map[int64]int64{stack + 16: stack + 32, stack + 24: 0}}, []int64{compiled + 8},
			wire.UnwindNoMapping},
		"the first address is no code": {scene{convention: AMD64, pc: 0x12345, sp: stack}, []int64{0x12345},
			wire.UnwindNoMapping},
		"unreadable": {scene{convention: AMD64, rows: []row{{0x100, amd64(wire.UnwindSP, 0, 1)}}, pc: at(1), sp: stack},
			[]int64{at(1)}, wire.UnwindUnreadable},
		"leads back": {scene{convention: AMD64, rows: []row{{0x100, amd64(wire.UnwindSP, 0, 0)}}, pc: at(1), sp: stack},
			[]int64{at(1)}, wire.UnwindNoProgress},
		"limit": {scene{convention: AMD64, rows: []row{{0x100, amd64(wire.UnwindSP, 0, 1)}}, pc: at(1), sp: stack,
			most:  3,
			words: map[int64]int64{stack - 8: 0, stack: at(1), stack + 8: at(1), stack + 16: at(1), stack + 24: at(1)},
		}, []int64{at(1), at(1), at(1)}, wire.UnwindLimit},
		"another register": {scene{convention: AMD64,
			rows: []row{{0x100, amd64(wire.UnwindSignal, 3, byRegister(13, 1))}, {0x200, amd64(wire.UnwindFP, 0, 2)},
				{0x300, stopRow}},
			pc: at(1), sp: stack, saved: 0x5000, kernel: map[int64]int64{0x5000 + 13*8: stack + 0x40},
			words: map[int64]int64{stack + 0x30: stack + 0x80, stack + 0x38: 0, stack + 0x40: at(2), stack + 0x80: 0,
				stack + 0x88: at(3)},
		}, []int64{at(1), at(2), at(3)}, wire.UnwindReached},
		"return address in a register": {scene{convention: AMD64,
			rows: []row{{0x100, amd64(wire.UnwindSignal, 0, byLink(14, 0))}, {0x200, amd64(wire.UnwindSP, 0, 2)},
				{0x300, stopRow}},
			pc: at(1), sp: stack, saved: 0x5000, kernel: map[int64]int64{0x5000 + 14*8: at(2)},
			words: map[int64]int64{stack - 8: at(3), stack: 7, stack + 8: at(3)},
		}, []int64{at(1), at(2), at(3)}, wire.UnwindReached},
		"return address in a register, of a caller": {scene{convention: AMD64,
			rows: []row{{0x100, amd64(wire.UnwindSP, 0, 1)}, {0x200, amd64(wire.UnwindSignal, 0, byLink(14, 0))}},
			pc:   at(1), sp: stack, saved: 0x5000, kernel: map[int64]int64{0x5000 + 14*8: at(3)},
			words: map[int64]int64{stack - 8: 0, stack: at(2)},
		}, []int64{at(1), at(2)}, wire.UnwindNoRule},
		"return address in a register, out of reach": {scene{convention: AMD64,
			rows: []row{{0x100, amd64(wire.UnwindSignal, 0, byLink(14, 0))}}, pc: at(1), sp: stack,
		}, []int64{at(1)}, wire.UnwindNoRule},
		"another register, below it": {scene{convention: AMD64,
			rows: []row{{0x100, amd64(wire.UnwindSignal, 0, byRegister(0, -2))}, {0x200, stopRow}},
			pc:   at(1), sp: stack, saved: 0x5000, kernel: map[int64]int64{0x5000: stack + 0x40},
			words: map[int64]int64{stack + 0x20: 0, stack + 0x28: at(2)},
		}, []int64{at(1), at(2)}, wire.UnwindReached},
		"another register, of a caller": {scene{convention: AMD64,
			rows: []row{{0x100, amd64(wire.UnwindSP, 0, 1)}, {0x200, amd64(wire.UnwindSignal, 0, byRegister(0, 1))}},
			pc:   at(1), sp: stack, saved: 0x5000, kernel: map[int64]int64{0x5000: stack + 0x40},
			words: map[int64]int64{stack - 8: 0, stack: at(2), stack + 0x38: 0, stack + 0x40: at(3)},
		}, []int64{at(1), at(2)}, wire.UnwindNoRule},
		"another register, out of reach": {scene{convention: AMD64,
			rows: []row{{0x100, amd64(wire.UnwindSignal, 0, byRegister(0, 1))}}, pc: at(1), sp: stack,
		}, []int64{at(1)}, wire.UnwindNoRule},
		"arm64: another register": {scene{convention: ARM64,
			rows: []row{{0x100, arm64(wire.UnwindSignal, 2, byRegister(9, 1))}, {0x200, stopRow}},
			pc:   at(1), sp: stack, saved: 0x5000, kernel: map[int64]int64{0x5000 + 9*8: stack + 0x40},
			words: map[int64]int64{stack + 0x38: 0, stack + 0x40: at(2)},
		}, []int64{at(1), at(2)}, wire.UnwindReached},
		"replaced return addresses": {scene{convention: AMD64,
			rows: []row{{0x100, amd64(wire.UnwindSP, 0, 1)}, {0x200, amd64(wire.UnwindSP, 0, 1)}, {0x300, stopRow}},
			pc:   at(1), sp: stack,
			words: map[int64]int64{stack - 8: 0, stack: 0x99, stack + 8: 0x99},
			kernel: map[int64]int64{task + 8: utask, utask + 16: record,
				record + 24: stack - 64, record + 40: record + 0x100, // left by longjmp
				record + 0x100 + 24: stack, record + 0x100 + 32: at(2), record + 0x100 + 40: record + 0x200,
				record + 0x200 + 24: stack + 8, record + 0x200 + 32: at(3)},
		}, []int64{at(1), at(2), at(3)}, wire.UnwindReached},
		"arm64: in the link register, then saved with the frame pointer": {scene{convention: ARM64,
			rows: []row{{0x100, arm64(wire.UnwindSP, 0, 0)}, {0x200, arm64(wire.UnwindSP, 4, 4)},
				{0x300, arm64(wire.UnwindFP, 2, 2)}, {0x400, stopRow}},
			pc: at(1), sp: stack, link: at(2) | 0x2a<<48,
			words: map[int64]int64{stack: stack + 0x40, stack + 8: at(3) | 0x55<<48, stack + 0x40: 0,
				stack + 0x48: at(4)},
		}, []int64{at(1), at(2), at(3), at(4)}, wire.UnwindReached},
		"arm64: saved at the stack pointer, in a large frame": {scene{convention: ARM64,
			rows: []row{{0x100, arm64(wire.UnwindSP, wire.UnwindAtStack, 5000)},
				{0x200, arm64(wire.UnwindFP, 2, 2)}, {0x300, stopRow}},
			pc: at(1), sp: stack,
			words: map[int64]int64{stack: stack + 0xa000, stack + 8: at(2), stack + 0xa000: 0, stack + 0xa008: at(3)},
		}, []int64{at(1), at(2), at(3)}, wire.UnwindReached},
		"arm64: the link register alone is saved": {scene{convention: ARM64,
			rows: []row{{0x100, arm64(wire.UnwindLinkOnly, 2, 2)}, {0x200, stopRow}}, pc: at(1), sp: stack,
			words: map[int64]int64{stack: at(2)}}, []int64{at(1), at(2)}, wire.UnwindReached},
		"arm64: it holds for the first frame alone": {scene{convention: ARM64,
			rows: []row{{0x100, arm64(wire.UnwindSP, 0, 0)}}, pc: at(1), sp: stack, link: at(1)},
			[]int64{at(1), at(1)}, wire.UnwindNoProgress},
		"arm64: signal": {scene{convention: ARM64,
			rows: []row{{0x100, arm64(wire.UnwindSP, 0, 0)}, {0x200, arm64(wire.UnwindSignal, 0, 0)},
				{0x300, arm64(wire.UnwindSP, 0, 0)}, {0x400, stopRow}},
			pc: at(1), sp: stack, link: at(2),
			words: signalWords(map[int64]int64{}, stack+128+184+8*29, 0, at(4), stack+0x8000, code+0x310),
		}, []int64{at(1), at(2), exact(code + 0x310), at(4)}, wire.UnwindReached},
		"arm64: entry without a rule": {scene{convention: ARM64, rows: []row{{0x200, stopRow}}, atEntry: true,
			pc: compiled, sp: stack, fp: 8, link: at(2)}, []int64{compiled, at(2)}, wire.UnwindReached},
	} {
		t.Run(name, func(t *testing.T) {
			for _, guess := range []uint16{0, 1, 2, 3, wire.UnwindRows - 1, 1<<16 - 1} {
				for _, dense := range []bool{false, test.why == wire.UnwindReached} {
					test.guess, test.dense = guess, dense
					got, why := walk(t, test.scene)
					if !slices.Equal(got, test.want) || why != test.why {
						t.Errorf("guess %d, dense %v: got %s because of %d, want %s because of %d", guess, dense,
							hex(got), why, hex(test.want), test.why)
					}
				}
			}
		})
	}
}

// signalWords adds words that lie one behind the other.
func signalWords(words map[int64]int64, at int64, list ...int64) map[int64]int64 {
	for i, x := range list {
		words[at+8*int64(i)] = x
	}
	return words
}

func hex(list []int64) string { return fmt.Sprintf("%#x", list) }
