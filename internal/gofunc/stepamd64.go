package gofunc

import (
	"fmt"
	"strings"
)

// Instructions of amd64 that the kernel refuses to probe, or runs wrong at another place.
//
// What uprobes do with an instruction of amd64 was tried with each opcode on Linux 5.10, 6.18 and 7.2, and follows
// from arch/x86/kernel/uprobes.c. Some are refused: where the program is started later, such a probe never hits. Of
// others the kernel takes the opcode behind a VEX or EVEX prefix for one without (OPCODE1), and does what that would
// do: the program goes wrong. Those are refused here.

// badPrefixes are the prefixes that the kernel refuses (is_prefix_bad). That 7.2 runs some NOPs with them is not used.
var badPrefixes = map[byte]string{0x26: "es", 0x2e: "cs", 0x36: "ss", 0x3e: "ds", 0xf0: "lock"}

// refusedOpcodes are opcodes of one byte that the kernel refuses in programs of 64 bits (good_insns_64), in ascending
// order, as far as they are instructions. With a VEX prefix they are vector instructions, and refused, too.
const refusedOpcodes = "\x06\x07\x0e\x16\x17\x1e\x1f\x27\x2f\x37\x3f\x60\x61\x62\x6c\x6d\x6e\x6f" +
	"\x82\x9a\xcc\xcd\xce\xcf\xd4\xd5\xd6\xe4\xe5\xe6\xe7\xea\xec\xed\xee\xef\xf1\xf4\xfa\xfb"

// mistaken says for what the kernel takes a vector instruction with an opcode, "" if it runs it.
func mistaken(opcode byte) string {
	switch {
	case opcode>>4 == 7, opcode == 0xe9, opcode == 0xeb: // branch_setup_xol_ops: it is left out, or a jump
		return "a jump"
	case opcode == 0xe8:
		return "a call"
	case opcode == 0x90: // before 7.2
		return "a nop"
	case opcode == 0xc2, opcode == 0xc3, opcode == 0xca, opcode == 0xcb: // arch_uprobe_analyze_insn
		return "a return"
	case opcode == 0x9d:
		return "a popf"
	}
	return ""
}

// refusedOfAMD64 says what an instruction of amd64 is that uprobes refuse or do not run right, "" of another one.
func refusedOfAMD64(code []byte) string {
	at := 0
	for ; at < len(code); at++ {
		c := code[at]
		if bad := badPrefixes[c]; bad != "" {
			return "prefix " + bad
		}
		if c != 0x66 && c != 0x67 && c != 0xf2 && c != 0xf3 && c != 0x64 && c != 0x65 {
			break
		}
	}
	if at < len(code) && code[at]&0xf0 == 0x40 { // REX
		at++
	}
	if at >= len(code) {
		return ""
	}
	switch opcode := code[at]; opcode {
	case 0xc5:
		return refusedVector(code, at+2)
	case 0xc4:
		return refusedVector(code, at+3)
	case 0x62:
		return refusedVector(code, at+4)
	case 0x9c: // what is stored would have the flag by which the kernel runs one instruction
		return "pushf"
	default:
		if refusedOpcode(code, at) {
			return fmt.Sprintf("opcode %#02x", opcode)
		}
	}
	return ""
}

// refusedVector is refusedOfAMD64 of an instruction whose opcode stands at an offset, behind a VEX or EVEX prefix.
func refusedVector(code []byte, at int) string {
	switch {
	case at >= len(code):
		return ""
	case refusedOpcode(code, at):
		return fmt.Sprintf("vector instruction with opcode %#02x", code[at])
	}
	if what := mistaken(code[at]); what != "" {
		return fmt.Sprintf("vector instruction with opcode %#02x, which it takes for %s", code[at], what)
	}
	return ""
}

// refusedOpcode reports whether the kernel refuses the opcode at an offset. 8e with 2 in ModRM holds back exceptions
// (insn_masking_exception).
func refusedOpcode(code []byte, at int) bool {
	opcode := code[at]
	if opcode == 0x8e && at+1 < len(code) && code[at+1]>>3&7 == 2 {
		return true
	}
	return strings.IndexByte(refusedOpcodes, opcode) >= 0
}
