package procs

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// A stop of a traced process at an instruction, on amd64.

// The places of the first debug register and of the one that controls all, in struct user (sys/user.h).
const (
	debugAddress = 848
	debugControl = debugAddress + 7*8
)

// breakAt stops a traced process where it comes to an instruction, 0: nowhere. The bits of control are 0 for execution,
// but for that which enables the register.
func breakAt(pid int, addr uint64) error {
	control := uint64(0)
	if addr != 0 {
		control = 1
	}
	for _, set := range [][2]uint64{{debugControl, 0}, {debugAddress, addr}, {debugControl, control}} {
		word := binary.NativeEndian.AppendUint64(nil, set[1])
		if _, err := unix.PtracePokeUser(pid, uintptr(set[0]), word); err != nil {
			return err
		}
	}
	return nil
}
