package procs

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// A stop of a traced process at an instruction, on arm64.

// hardwareBreaks is NT_ARM_HW_BREAK (include/uapi/linux/elf.h).
const hardwareBreaks = 0x402

// breakState is struct user_hwdebug_state (asm/ptrace.h) with one register.
type breakState struct {
	info, _    uint32
	addr       uint64
	control, _ uint32
}

// enabledForUser is a control register of a breakpoint at all four bytes of an instruction of a program: the bit that
// enables it, that of EL0, and the bytes.
const enabledForUser = 1 | 2<<1 | 0xf<<5

// breakAt stops a traced process where it comes to an instruction, 0: nowhere.
func breakAt(pid int, addr uint64) error {
	state := breakState{addr: addr}
	if addr != 0 {
		state.control = enabledForUser
	}
	part := unix.Iovec{Base: (*byte)(unsafe.Pointer(&state)), Len: uint64(unsafe.Sizeof(state))}
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_SETREGSET, uintptr(pid), hardwareBreaks,
		uintptr(unsafe.Pointer(&part)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
