package gofunc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Instructions of arm64 at which the kernel refuses a probe, and instructions at which a probe does harm
// (`BecomesCall`).

// Steppable says why the kernel cannot run an instruction at another place, as uprobes do, nil if it perhaps can.
func Steppable(arch string, code []byte) error {
	what := ""
	if arch == "arm64" {
		what = refusedOfARM64(code)
	} else {
		what = refusedOfAMD64(code)
	}
	if what == "" {
		return nil
	}
	return fmt.Errorf("an instruction that the kernel cannot run at another place (%s)", what)
}

// BecomesCall says why no probe may stand at an instruction within a function, nil if it may. From Linux 6.18 on the
// kernel replaces an instruction of five bytes of amd64 that does nothing by a call, where a probe stands. The call
// writes below the stack's end, where functions that call nothing keep values (the red zone), so that the program
// computes something else. Where a function begins there is nothing yet.
func BecomesCall(arch string, code []byte) error {
	if arch != "amd64" || !bytes.HasPrefix(code, []byte{0x0f, 0x1f, 0x44, 0x00, 0x00}) {
		return nil
	}
	return errors.New("an instruction of five bytes that does nothing, at which a probe of Linux 6.18 overwrites " +
		"values of the program")
}

// refusedARM64 are instructions of arm64 that uprobes refuse, by their bits (aarch64_insn_is_steppable and
// arm_probe_decode_insn of arch/arm64/kernel/probes/decode-insn.c, arch/arm64/include/asm/insn.h). The kernel takes the
// loads into vector registers, and runs them where what they load is something else.
var refusedARM64 = []struct {
	mask, bits uint32
	what       string
}{
	{0xff000000, 0xd4000000, "a call of the system or a trap"}, // SVC, HVC, SMC, BRK, HLT
	{0xfff00000, 0xd5100000, "a write of a system register"},
	{0xfff8f01f, 0xd500401f, "a write of a system register"},
	{0x3f800000, 0x08000000, "an exclusive load or store"},
	{0x3b200c00, 0x19000400, "a copy of memory"},
	{0xff000000, 0xd8000000, "a prefetch relative to itself"},
	{0x3f000000, 0x1c000000, "a load relative to itself"},
	{0xfffffbff, 0xd65f0bff, "an authenticated return"},
	{0xfffff800, 0xd71f0800, "an authenticated jump"},
	{0xfffff800, 0xd73f0800, "an authenticated call"},
	{0xfffff81f, 0xd61f081f, "an authenticated jump"},
	{0xfffff81f, 0xd63f081f, "an authenticated call"},
}

// steppableHints are NOP, the signing of addresses and the marks of where indirect calls may go; of the other hints
// none is allowed.
var steppableHints = map[uint32]bool{0: true, 7: true, 8: true, 10: true, 24: true, 25: true, 26: true, 27: true,
	32: true, 34: true, 36: true, 38: true}

// refusedOfARM64 says what an instruction of arm64 is that uprobes refuse, "" of another one.
func refusedOfARM64(code []byte) string {
	if len(code) < 4 {
		return ""
	}
	word := binary.LittleEndian.Uint32(code)
	if word&0xfffff01f == 0xd503201f && !steppableHints[word>>5&0x7f] {
		return "a hint to the processor"
	}
	for _, refused := range refusedARM64 {
		if word&refused.mask == refused.bits {
			return refused.what
		}
	}
	return ""
}
