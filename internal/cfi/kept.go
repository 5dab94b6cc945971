package cfi

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/wire"
)

// Functions that count their frame from a register that calls keep.
//
// Functions that align the stack count their frame from a register (rbx in those of the dynamic linker that look a
// function up at its first call, _dl_runtime_resolve). Calls keep such a register, and a walk does not follow it. But
// where a function has called another one which saves the register, the word lies at a fixed place below the stack
// pointer of the caller. So the place behind the call has a rule of its own, by that word.

// keptRegisters are those that calls keep on amd64, beside rbp: rbx and r12 to r15, by their numbers in DWARF.
var keptRegisters = []uint64{3, 12, 13, 14, 15}

// Of a call: the instruction is a byte, and how far behind it the function is.
const (
	callCode = 0xe8
	callSize = 5
)

// mostKeptCode bounds the code that is searched for calls, in bytes.
const mostKeptCode = 1 << 20

// A keeper finds calls of functions that save a register.
type keeper struct {
	section
	*elffile.File
	arch      *arch
	functions []function
}

// kept are the rows behind such calls.
func kept(f *elffile.File, a *arch, s section, code []elffile.CodeSection, t *table) *table {
	out, left := &table{}, uint64(mostKeptCode)
	if !a.pushes {
		return out
	}
	var k *keeper
	for i, r := range t.rows[:max(len(t.rows)-1, 0)] {
		register, add, ok := a.counted(r.Rule)
		size := t.rows[i+1].Addr - r.Addr
		if !ok || size > left {
			continue
		}
		left -= size
		if k == nil {
			k = &keeper{s, f, a, inCode(s.functions(a, &Stats{}), code)}
		}
		k.calls(out, r, size, register, add)
	}
	return out
}

// counted takes a rule apart that counts from a register that calls keep.
func (a *arch) counted(rule uint32) (register uint64, add int64, ok bool) {
	operand := int64(int32(rule) >> amd64Operand)
	if known := rule & (1<<wire.UnwindKindBits - 1); known != wire.UnwindSignal ||
		operand&(1<<wire.UnwindOfBits-1) != wire.UnwindOfRegister {
		return 0, 0, false
	}
	operand >>= wire.UnwindOfBits
	for _, register := range keptRegisters {
		if a.regs[register] == operand&(1<<wire.UnwindRegisterBits-1) {
			return register, operand >> wire.UnwindRegisterBits, true
		}
	}
	return 0, 0, false
}

// calls adds the rows of the calls in so many bytes of code, in which a rule holds.
func (k *keeper) calls(out *table, r Row, size, register uint64, add int64) {
	b, err := k.Code(r.Addr, size)
	if err != nil {
		return
	}
	for i := 0; i+callSize <= len(b); i++ {
		if b[i] != callCode {
			continue
		}
		behind := r.Addr + uint64(i) + callSize
		to := behind + uint64(int64(int32(binary.LittleEndian.Uint32(b[i+1:]))))
		saved, ok := k.saves(to, register)
		if !ok {
			continue
		}
		before := r.Rule >> wire.UnwindKindBits & (1<<wire.UnwindSavedBitsAMD64 - 1)
		rule := k.arch.make(wire.UnwindSPMem, int64(before), add<<memoryBits|saved&(1<<memoryBits-1))
		if rule != wire.UnwindNone {
			out.add(behind-1, rule)
			out.add(behind, r.Rule)
		}
	}
	if len(out.rows) > 0 {
		out.add(r.Addr+size, uncovered)
	}
}

// saves gives where the function that begins at an address saves a register, in words above its caller's stack pointer:
// a number below 0.
func (k *keeper) saves(begin, register uint64) (words int64, ok bool) {
	i, found := slices.BinarySearchFunc(k.functions, begin,
		func(f function, begin uint64) int { return cmp.Compare(f.begin, begin) })
	if !found {
		return 0, false
	}
	f := k.functions[i]
	p := &program{arch: k.arch, base: k.base, watched: register}
	p.function(k.section, f)
	n, whole := p.keptAt/word, p.keptAt%word == 0
	return n, whole && n < 0 && n >= -maxMemory-1
}
