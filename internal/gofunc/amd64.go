package gofunc

import (
	"fmt"

	"golang.org/x/arch/x86/x86asm"
)

// Instructions of amd64 decoded: their lengths and where they jump.

// decodeAMD64 reads one instruction. The decoder does not know all of AVX and
// ADX, which Go uses for GOAMD64=v3 and in assembly; of those only the length is
// needed.
func decodeAMD64(code []byte, at int) (instruction, error) {
	in := instruction{at: at}
	for _, length := range []func([]byte) (int, bool){vexLength, legacyLength} {
		if size, ok := length(code[at:]); ok {
			in.size = size
			return in, nil
		}
	}
	decoded, err := x86asm.Decode(code[at:], 64)
	if err != nil || decoded.Len == 0 {
		return in, fmt.Errorf("no instruction of amd64 at +%#x (% x): %v", at, code[at:min(len(code), at+8)], err)
	}
	in.size = decoded.Len
	rel, direct := decoded.Args[0].(x86asm.Rel)
	in.target = at + in.size + int(rel)
	switch op := decoded.Op; {
	case op == x86asm.RET:
		in.kind = ret
	case op == x86asm.CALL:
		in.kind = call
	case op == x86asm.JMP && direct:
		in.kind = jump
	case op == x86asm.JMP && throughMemory(decoded.Args[0]):
		in.kind, in.target = leaveByMemory, Elsewhere
	case op == x86asm.JMP:
		in.kind = leave
	case direct: // Jcc, LOOP, JRCXZ
		in.kind = branch
	}
	return in, nil
}

// throughMemory: one word is read. With an index it is a table of a switch.
func throughMemory(arg x86asm.Arg) bool {
	mem, ok := arg.(x86asm.Mem)
	return ok && mem.Index == 0
}

// vexLength gives the length of an instruction with a VEX or EVEX prefix (Intel
// SDM volume 2, 2.3 and 2.7): C5 and one byte, C4 and two, 62 and three, then
// opcode, ModRM, what ModRM asks for, and in some a byte of immediate. In 64-bit
// mode these bytes begin nothing else.
func vexLength(code []byte) (int, bool) {
	if len(code) < 5 {
		return 0, false
	}
	at, space := 0, byte(1) // space is the table of opcodes: 0F, 0F38, 0F3A
	switch code[0] {
	case 0xc5:
		at = 2
	case 0xc4:
		at, space = 3, code[1]&0x1f
	case 0x62:
		at, space = 4, code[1]&7
	default:
		return 0, false
	}
	if at+2 > len(code) || space == 0 {
		return 0, false
	}
	opcode := code[at]
	if opcode == 0x77 && space == 1 { // VZEROUPPER, VZEROALL: no ModRM
		return at + 1, true
	}
	size := at + 1 + modrmLength(code[at+1:])
	if hasImmediate(space, opcode) {
		size++
	}
	return size, size <= len(code)
}

// legacyLength gives the length of instructions without VEX that the decoder
// does not know: the hints of control flow enforcement (ENDBR64, RDSSP:
// F3 0F 1E), ADCX and ADOX (0F 38 F6), and what else lies in the tables 0F38 and
// 0F3A (SHA, AES, CRC32, MOVBE), 0F01, 0FAE and 0FC7 (XSAVEC, RDRAND): prefixes,
// opcode, ModRM, what that asks for, and in 0F3A a byte of immediate.
func legacyLength(code []byte) (int, bool) {
	at := 0
	for at < len(code) && at < 4 && (code[at] == 0x66 || code[at] == 0xf2 || code[at] == 0xf3) {
		at++
	}
	if at < len(code) && code[at]&0xf0 == 0x40 {
		at++
	}
	if at+2 >= len(code) || code[at] != 0x0f {
		return 0, false
	}
	immediate := 0
	switch code[at+1] {
	case 0x3a:
		immediate = 1
		fallthrough
	case 0x38:
		at++
	case 0x01, 0x1e, 0xae, 0xc7:
	default:
		return 0, false
	}
	if at+2 >= len(code) {
		return 0, false
	}
	size := at + 2 + modrmLength(code[at+2:]) + immediate
	return size, size <= len(code)
}

// modrmLength counts ModRM, SIB and displacement. EVEX scales a displacement of
// 8 bits, but keeps its length.
func modrmLength(code []byte) int {
	mod, rm := code[0]>>6, code[0]&7
	size := 1
	if mod != 3 && rm == 4 {
		size++
		if mod == 0 && len(code) > 1 && code[1]&7 == 5 {
			size += 4
		}
	}
	switch {
	case mod == 1:
		size++
	case mod == 2 || mod == 0 && rm == 5:
		size += 4
	}
	return size
}

func hasImmediate(space, opcode byte) bool {
	switch space {
	case 3:
		return true
	case 1:
		return opcode >= 0x70 && opcode <= 0x73 || opcode == 0xc2 || opcode >= 0xc4 && opcode <= 0xc6
	}
	return false
}
