package cfi_test

import (
	"debug/elf"
	"fmt"
	"strings"

	"github.com/startrace/startrace/internal/wire"
)

// said is a rule as readelf says it: how CFA is found, where the caller's frame pointer and its pc are. What it says as
// an expression is said more exactly here.
type said struct{ cfa, fp, pc string }

// expression is how readelf says one.
const expression = "exp"

// A cpu is what differs in rules of amd64 and arm64.
type cpu struct {
	sp, fp    string
	savedBits int
	words     []string // of struct pt_regs
}

var cpus = map[elf.Machine]cpu{
	elf.EM_X86_64: {"rsp", "rbp", wire.UnwindSavedBitsAMD64, strings.Fields(
		"r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi")},
	elf.EM_AARCH64: {"sp", "x29", wire.UnwindSavedBitsARM64, strings.Fields(
		"x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 x16 x17 x18 x19 x20 x21 x22 x23 x24 x25 x26 x27 x28")},
}

// say takes a rule apart. UnwindNone is the zero value.
func say(machine elf.Machine, rule uint32) said {
	c := cpus[machine]
	n := int(int32(rule) >> (wire.UnwindKindBits + c.savedBits))
	saved := int(rule >> wire.UnwindKindBits & (1<<c.savedBits - 1))
	kind := rule & (1<<wire.UnwindKindBits - 1)
	out := said{fp: "u", pc: "c-8"}
	switch {
	case machine == elf.EM_AARCH64 && saved == 0:
		out.pc = "u"
	case machine == elf.EM_AARCH64 && kind == wire.UnwindLinkOnly:
		out.pc, kind = fmt.Sprintf("c%+d", -8*saved), wire.UnwindSP
	case machine == elf.EM_AARCH64 && saved == wire.UnwindAtStack:
		out.fp, out.pc = fmt.Sprintf("c%+d", -8*n), fmt.Sprintf("c%+d", 8-8*n) // n words are the whole frame
	case machine == elf.EM_AARCH64:
		out.fp, out.pc = fmt.Sprintf("c%+d", -8*saved), fmt.Sprintf("c%+d", 8-8*saved)
	case saved == wire.UnwindAtFrame:
		out.fp = expression
	case saved != 0:
		out.fp = fmt.Sprintf("c%+d", -8*saved)
	}
	return out.with(c, kind, n)
}

// with adds what a kind with its operand says.
func (s said) with(c cpu, kind uint32, n int) said {
	switch kind {
	case wire.UnwindNone:
		return said{}
	case wire.UnwindSP:
		s.cfa = fmt.Sprintf("%s%+d", c.sp, 8*n)
	case wire.UnwindFP:
		s.cfa = fmt.Sprintf("%s%+d", c.fp, 8*n)
	case wire.UnwindSignal:
		register := n >> wire.UnwindOfBits & (1<<wire.UnwindRegisterBits - 1)
		add := 8 * (n >> (wire.UnwindOfBits + wire.UnwindRegisterBits))
		switch n & (1<<wire.UnwindOfBits - 1) {
		case wire.UnwindOfInjected:
			if n == wire.UnwindOfSignal {
				return said{expression, expression, expression}
			}
			s.cfa = fmt.Sprintf("injected at %s%+d", c.sp, 8*(n>>wire.UnwindOfBits-1))
		case wire.UnwindOfRegister:
			s.cfa = fmt.Sprintf("%s%+d", c.words[register], add)
		case wire.UnwindOfLink:
			s.cfa, s.pc = fmt.Sprintf("%s%+d", c.sp, add), c.words[register]
		default:
			return said{expression, expression, expression}
		}
	case wire.UnwindStop:
		return said{pc: "stop"}
	case wire.UnwindStub:
		s.cfa = fmt.Sprintf("stub %d", n)
	case wire.UnwindSPMem:
		s.cfa = fmt.Sprintf("*(%s%+d)%+d", c.sp, 8*int(int8(n)), 8*(n>>8))
	case wire.UnwindFPMem:
		s.cfa = fmt.Sprintf("*(%s%+d)%+d", c.fp, 8*int(int8(n)), 8*(n>>8))
	}
	return s
}
