package kernel

import (
	"runtime"
	"strconv"
	"sync"
)

// The registers of struct pt_regs, and those of the arguments of system calls.

// Registers says where an architecture's struct pt_regs keeps what, in bytes
// from its start (arch/ARCH/include/asm/ptrace.h; the layout is kernel ABI
// for the first part, and unchanged since 4.x).
type Registers struct {
	// SyscallArgs are the arguments of a system call at its entry.
	SyscallArgs [6]int
	// CompatArgs are those of a call of the 32-bit interface, the lower halves of the registers.
	CompatArgs [6]int
	// SyscallNr is the number of the system call: SyscallNrSize bytes, signed.
	SyscallNr, SyscallNrSize int
	// IP, SP and Ret are the instruction pointer, the stack pointer, and the register of a function's result.
	IP, SP, Ret int
	// UserSize is the size of what programs see of them (bpf_user_pt_regs_t).
	UserSize int
	// Names are all registers of e.regs, of 8 bytes each.
	Names map[string]int
}

// RegisterOffsets gives the registers of an architecture by its GOARCH; ""
// is this machine. nil for an architecture that is not known. They are shared: do not change them.
func RegisterOffsets(arch string) *Registers {
	if get := registersOf[orThis(arch)]; get != nil {
		return get()
	}
	return nil
}

var registersOf = map[string]func() *Registers{
	"amd64": sync.OnceValue(amd64Registers),
	"arm64": sync.OnceValue(arm64Registers),
}

func orThis(arch string) string {
	if arch == "" {
		return runtime.GOARCH
	}
	return arch
}

// amd64Order is the order of struct pt_regs (arch/x86/include/asm/ptrace.h).
var amd64Order = [...]string{
	"r15", "r14", "r13", "r12", "bp", "bx", "r11", "r10", "r9", "r8",
	"ax", "cx", "dx", "si", "di", "orig_ax", "ip", "cs", "flags", "sp", "ss",
}

func amd64Registers() *Registers {
	names := make(map[string]int, len(amd64Order))
	for i, n := range amd64Order {
		names[n] = 8 * i
	}
	r := &Registers{
		SyscallNr: names["orig_ax"], SyscallNrSize: 8,
		IP: names["ip"], SP: names["sp"], Ret: names["ax"], UserSize: 8 * len(amd64Order),
	}
	for i, n := range [...]string{"di", "si", "dx", "r10", "r8", "r9"} {
		r.SyscallArgs[i] = names[n]
	}
	for i, n := range [...]string{"bx", "cx", "dx", "si", "di", "bp"} {
		r.CompatArgs[i] = names[n]
	}
	r.Names = names
	return r
}

// arm64: struct user_pt_regs { u64 regs[31]; u64 sp; u64 pc; u64 pstate; },
// then u64 orig_x0; s32 syscallno. regs[0] still holds the first argument at
// the entry of a system call; it becomes the result at the exit.
func arm64Registers() *Registers {
	r := &Registers{
		SyscallNr: 35 * 8, SyscallNrSize: 4,
		SP: 31 * 8, IP: 32 * 8, Ret: 0, UserSize: 34 * 8,
		Names: map[string]int{"lr": 30 * 8, "fp": 29 * 8, "sp": 31 * 8, "pc": 32 * 8, "pstate": 33 * 8,
			"orig_x0": 34 * 8},
	}
	for i := range 31 {
		r.Names["x"+strconv.Itoa(i)] = 8 * i
		if i < len(r.SyscallArgs) {
			r.SyscallArgs[i], r.CompatArgs[i] = 8*i, 8*i
		}
	}
	return r
}

// PtrSpaceLimit gives the address below which an address belongs to user
// space, for an architecture by its GOARCH ("" is this machine).
//
// amd64: user space ends at 2^47, or at 2^56 with five levels of page tables;
// kernel addresses have all upper bits set. arm64: 2^48 or 2^52, and the same.
// Bit 63 tells them apart on both, except for user addresses of arm64 that
// carry a tag of 0x80 or more in the top byte (MTE, HWASAN), which the
// hardware ignores: they count as kernel addresses here.
func PtrSpaceLimit(arch string) uint64 {
	_ = arch // the same for both
	return 1 << 63
}
