package cfi

import (
	"debug/elf"

	"github.com/startrace/startrace/internal/wire"
)

// Which rule a state of the registers becomes, on amd64 and arm64.

// An arch is what differs between amd64 and arm64: the numbers that DWARF gives to the registers, how many bits of a
// rule tell where the frame pointer is, and how what is known is said in a rule.
type arch struct {
	fp, sp, pc uint64 // pc is, on arm64, the link register
	savedBits  int
	// pushes: a call pushes its return address, and so do stubs of calls into libraries what they have to say.
	pushes bool

	// regs is where struct pt_regs has each register that a CFA can be counted from beside sp and fp, in words.
	regs map[uint64]int64

	// rule gives what the state of a program says: UnwindNone if no rule can say it.
	rule func(*program) uint32

	// pads reports whether code is padding.
	pads func([]byte) bool

	// nop is how many bytes before the code that a handler of signals returns to its frame begins: a walk looks up the
	// instruction before a return address.
	nop uint64

	// stub is the rule of such stubs. lazyStub is how the first one begins where libraries are linked when they are
	// called, and lazyStubs are the rows then.
	stub      uint32
	lazyStub  []byte
	lazyStubs []stubRow
}

// The parts of rules of either machine.
const (
	amd64Operand = wire.UnwindKindBits + wire.UnwindSavedBitsAMD64
	arm64Operand = wire.UnwindKindBits + wire.UnwindSavedBitsARM64
	savedOne     = 1 << wire.UnwindKindBits
)

var arches = map[elf.Machine]*arch{
	elf.EM_X86_64: {
		fp: 6, sp: 7, pc: 16, savedBits: wire.UnwindSavedBitsAMD64, pushes: true, rule: amd64Rule,
		regs: amd64Regs(), nop: 1, pads: amd64Pads,
		stub:     wire.UnwindSP | 1<<amd64Operand,
		lazyStub: []byte("\xff\x35"), // push; jmp; then, 16 bytes each: jmp, push, jmp
		lazyStubs: []stubRow{
			{0, wire.UnwindSP | 2<<amd64Operand},
			{6, wire.UnwindSP | 3<<amd64Operand},
			{16, wire.UnwindStub | 11<<amd64Operand},
		},
	},
	elf.EM_AARCH64: {
		fp: 29, sp: 31, pc: 30, savedBits: wire.UnwindSavedBitsARM64, rule: arm64Rule,
		regs: arm64Regs(), nop: 4, pads: arm64Pads,
		stub:     wire.UnwindSP,
		lazyStub: []byte("\xf0\x7b\xbf\xa9"), // stp x16, x30, [sp, #-16]!
		lazyStubs: []stubRow{
			{0, wire.UnwindSP},
			{4, wire.UnwindLinkOnly | savedOne | 2<<arm64Operand},
			{32, wire.UnwindSP},
		},
	},
}

// amd64Regs: struct pt_regs (arch/x86/include/asm/ptrace.h) begins with r15, r14, … r12, bp and bx, then come r11 to
// r8, ax, cx, dx, si and di. DWARF counts rax, rdx, rcx, rbx, rsi and rdi first, and r8 to r15 from 8 on.
func amd64Regs() map[uint64]int64 {
	return map[uint64]int64{
		15: 0, 14: 1, 13: 2, 12: 3, 3: 5, 11: 6, 10: 7, 9: 8, 8: 9, 0: 10, 2: 11, 1: 12, 4: 13, 5: 14,
	}
}

// arm64Regs: both have x0 to x28 in order.
func arm64Regs() map[uint64]int64 {
	out := map[uint64]int64{}
	for n := range 29 {
		out[uint64(n)] = int64(n)
	}
	return out
}

// word is how many bytes offsets count.
const word = 8

// make puts a rule together; UnwindNone where a part has more bits than there is room for.
func (a *arch) make(kind uint32, saved, operand int64) uint32 {
	shift := wire.UnwindKindBits + a.savedBits
	rule := kind | uint32(saved)<<wire.UnwindKindBits | uint32(operand)<<shift
	if int64(int32(rule)>>shift) != operand || saved>>a.savedBits != 0 {
		return wire.UnwindNone
	}
	return rule
}

// words gives how many words an offset is; false where it is no whole number of them.
func words(offset int64) (int64, bool) { return offset / word, offset%word == 0 }

// cfa makes the rule of where the CFA is; saved tells of the frame pointer.
func (a *arch) cfa(p *program, saved int64) uint32 {
	cfa := p.state.cfa
	t := term{depth: 1, register: uint64(cfa.register), add: cfa.offset}
	switch cfa.how {
	case howOffset:
	case howExpression:
		expression := cfa.expression(p.data)
		if n, ok := stubPush(expression); ok && a.pushes {
			return a.make(wire.UnwindStub, saved, n)
		}
		var ok bool
		if t, ok = evaluate(expression); !ok {
			return wire.UnwindNone
		}
	default:
		return wire.UnwindNone
	}
	return a.term(t, saved)
}

// Of the operand, in a rule with a word in memory: where the word lies.
const (
	memoryBits = 8
	maxMemory  = 1<<(memoryBits-1) - 1
	maxWords   = 1 << 31 // more than any operand has
)

// term makes the rule of a CFA that is a term.
func (a *arch) term(t term, saved int64) uint32 {
	at, whole := words(t.at)
	add, also := words(t.add)
	if !whole || !also || at > maxMemory || at < -maxMemory-1 || add > maxWords || add < -maxWords {
		return wire.UnwindNone
	}
	if t.register != a.sp && t.register != a.fp {
		return a.byRegister(t, saved, add)
	}
	kinds := [...][2]uint32{1: {wire.UnwindSP, wire.UnwindFP}, 2: {wire.UnwindSPMem, wire.UnwindFPMem}}[t.depth]
	kind := kinds[0]
	if t.register == a.fp {
		kind = kinds[1]
	}
	if t.depth == 2 {
		add = add<<memoryBits | at&(1<<memoryBits-1)
	}
	return a.make(kind, saved, add)
}

// byRegister makes the rule of a CFA that is counted from another register than those that a walk follows.
func (a *arch) byRegister(t term, saved, add int64) uint32 {
	n, ok := a.regs[t.register]
	if !ok || t.depth != 1 {
		return wire.UnwindNone
	}
	operand := wire.UnwindOfRegister | (n|add<<wire.UnwindRegisterBits)<<wire.UnwindOfBits
	return a.make(wire.UnwindSignal, saved, operand)
}

// The place of rip in the frame of a signal, above the stack pointer.
const amd64SignalPC = 168

// amd64Rule: the return address is at CFA-8.
func amd64Rule(p *program) uint32 {
	a, pc := p.arch, p.state.pc
	if pc.how == howUndefined {
		return wire.UnwindStop
	}
	if p.cie.signal && pc.how == howExpression {
		t, ok := evaluate(pc.expression(p.data))
		if ok && t == (term{depth: 1, register: a.sp, add: amd64SignalPC}) {
			return wire.UnwindSignal
		}
	}
	if pc.how == howRegister {
		return a.link(p)
	}
	saved, ok := amd64Saved(p)
	if !ok || pc.how != howOffset || pc.offset != -word {
		return wire.UnwindNone
	}
	return a.cfa(p, saved)
}

// link makes the rule of code that keeps its return address in a register, as vfork has to: its child returns first, on
// the same stack.
func (a *arch) link(p *program) uint32 {
	cfa := p.state.cfa
	n, ok := a.regs[uint64(p.state.pc.register)]
	add, whole := words(cfa.offset)
	if !ok || !whole || cfa.how != howOffset || uint64(cfa.register) != a.sp || p.state.fp.how != howSame {
		return wire.UnwindNone
	}
	return a.make(wire.UnwindSignal, 0, wire.UnwindOfLink|(n|add<<wire.UnwindRegisterBits)<<wire.UnwindOfBits)
}

// amd64Saved gives where the frame pointer is, as rules tell it.
func amd64Saved(p *program) (saved int64, ok bool) {
	fp := p.state.fp
	switch fp.how {
	case howSame, howUndefined: // nobody needs what is lost
		return 0, true
	case howOffset:
		n, whole := words(-fp.offset)
		return n, whole && n > 1 && n < wire.UnwindAtFrame
	case howExpression:
		t, ok := evaluate(fp.expression(p.data))
		return wire.UnwindAtFrame, ok && t == term{depth: 1, register: p.arch.fp}
	}
	return 0, false
}

// arm64Rule: frame pointer and return address are saved as a pair, or are both in their registers.
func arm64Rule(p *program) uint32 {
	a, fp, pc := p.arch, p.state.fp, p.state.pc
	switch {
	case p.cie.signal:
		return wire.UnwindSignal
	case pc.how == howUndefined:
		return wire.UnwindStop
	case pc.how == howSame && fp.how == howSame:
		return a.cfa(p, 0)
	case pc.how != howOffset:
		return wire.UnwindNone
	case fp.how == howOffset && fp.offset == pc.offset-word:
		saved, ok := arm64Saved(fp.offset, 2)
		ok = ok && saved != wire.UnwindAtStack
		if cfa := p.state.cfa; !ok && cfa.how == howOffset && uint64(cfa.register) == a.sp && fp.offset == -cfa.offset {
			saved, ok = wire.UnwindAtStack, true
		}
		if !ok {
			return wire.UnwindNone
		}
		return a.cfa(p, saved)
	case fp.how == howSame:
		return arm64LinkOnly(p)
	}
	return wire.UnwindNone
}

// arm64Saved gives the words below CFA at which something is saved, which are least at least.
func arm64Saved(offset, least int64) (saved int64, ok bool) {
	n, whole := words(-offset)
	return n, whole && n >= least && n < 1<<wire.UnwindSavedBitsARM64
}

func arm64LinkOnly(p *program) uint32 {
	a := p.arch
	saved, ok := arm64Saved(p.state.pc.offset, 1)
	rule := a.cfa(p, saved)
	if !ok || rule&(1<<wire.UnwindKindBits-1) != wire.UnwindSP {
		return wire.UnwindNone
	}
	return rule&^(1<<wire.UnwindKindBits-1) | wire.UnwindLinkOnly
}
