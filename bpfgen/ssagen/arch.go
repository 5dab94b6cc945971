package ssagen

import (
	"github.com/startrace/startrace/bpfgen/unwind"
	"github.com/startrace/startrace/internal/kernel"
)

// What programs must know of amd64 and arm64: registers in pt_regs, instructions.

// An Arch is what programs must know of the machine.
type Arch struct {
	// Name is the architecture's as Go has it: amd64, arm64.
	Name string
	// IP and Mode are offsets in pt_regs as perf events show them.
	IP, Mode int64
	// ModeMask are bits of the word at Mode. They are all 0 in user mode if UserIsZero is set, and all 0 in the kernel
	// otherwise.
	ModeMask   int64
	UserIsZero bool
	// Syscall is the offset of the system call's number in pt_regs at sys_exit, SyscallSize its bytes.
	Syscall     int64
	SyscallSize int
	// SyscallCode is the instruction that makes a system call, SyscallCodeSize its bytes.
	SyscallCode, SyscallCodeSize int64
	// X32: there is a third interface, x32.
	X32 bool
	// Execs are the numbers that execve and execveat have in all interfaces of the machine.
	Execs []int
	// ExecEnds are the numbers that the end of such a call can have where it has succeeded. On amd64 that is execve of
	// the new program's interface (set_personality_64bit, arch/x86/kernel/process_64.c). On arm64 it is the number of
	// the call itself, read as one of the new program's interface.
	ExecEnds []int
	// SP and G are offsets in pt_regs: of the stack pointer, and of the register
	// in which Go keeps the current goroutine (from 1.17; cmd/compile/abi-internal.md).
	SP, G int
	// BP is that of the frame pointer, where it is needed; else 0.
	BP int64
	// FP is that of the frame pointer.
	FP int64
	// Unwind is what walks along user stacks must know.
	Unwind *unwind.Convention
	// ReturnPop is by how much the stack pointer has grown when a probe at a
	// return runs, against the function's entry.
	ReturnPop int64
	// Link is the offset in pt_regs of the register that has the return address
	// at a function's entry; 0: it is on top of the stack.
	Link int64
	// Repeats is how many frames more a kernel stack begins with where the kernel has no registers at hand, as at a raw
	// tracepoint. It then takes those of the function that asks, and on arm64 the frame behind that is the same
	// function again (perf_arch_fetch_caller_regs, asm/perf_event.h).
	Repeats int64
}

// The machines. Offsets are those of struct pt_regs: arch/x86/include/asm/ptrace.h
// (ip, cs; the low two bits of cs are the privilege level) and
// arch/arm64/include/asm/ptrace.h (pc, pstate; mode 0 is EL0; s32 syscallno).
var (
	AMD64 = &Arch{Name: "amd64", IP: 128, Mode: 136, ModeMask: 3, Syscall: 120, SyscallSize: 8,
		SyscallCode: 0x050f, SyscallCodeSize: 2,
		X32: true, Execs: []int{59, 322, 520, 545, kernel.CompatBase + 11, kernel.CompatBase + 358},
		ExecEnds: []int{59, 520, kernel.CompatBase + 11},
		SP:       152, G: 8, BP: 32, FP: 32, ReturnPop: 8, Unwind: unwind.AMD64}
	ARM64 = &Arch{Name: "arm64", IP: 256, Mode: 264, ModeMask: 15, UserIsZero: true, Syscall: 280, SyscallSize: 4,
		SyscallCode: 0xd4000001, SyscallCodeSize: 4,
		SP: 248, G: 224, Link: 240, FP: 232, Repeats: 1, Unwind: unwind.ARM64,
		Execs: []int{221, 281, kernel.CompatBase + 11, kernel.CompatBase + 387},
		ExecEnds: []int{11, 221, 281, 387, kernel.CompatBase + 11, kernel.CompatBase + 221, kernel.CompatBase + 281,
			kernel.CompatBase + 387}}
)

// ArchOf gives the description of a GOARCH, nil if there is none.
func ArchOf(goarch string) *Arch {
	switch goarch {
	case "amd64":
		return AMD64
	case "arm64":
		return ARM64
	}
	return nil
}
