package tree

import (
	"strconv"
	"strings"

	"github.com/startrace/startrace/internal/kernel"
)

// Names of functions, points and system calls as numbers.

// SyscallPoints is added to the number of a system call for its name as a point,
// with "syscall:" before it.
const SyscallPoints = 1 << 32

// NamelessRoom is the room for the longest text of the point of a call without a name, the NUL included.
const NamelessRoom = len("syscall:syscall_-2147483648") + 1

// SyscallNumber is the number of a name that is that of a system call or its
// point, as programs keep it. A call without a name reads as syscall_NUMBER.
func SyscallNumber(s string) (n int64, ok bool) {
	name, point := strings.CutPrefix(s, "syscall:")
	if point {
		n = SyscallPoints
	}
	if sc, found := kernel.SyscallByName(name); found && sc.Name == name {
		return n + int64(sc.Nr), true
	}
	if name == kernel.SyscallName(kernel.NoCall) {
		return n + int64(kernel.CallNumber(kernel.NoCall)), true
	}
	digits, found := strings.CutPrefix(name, "syscall_")
	nr, err := strconv.ParseInt(digits, 10, 32)
	if !found || err != nil || kernel.SyscallName(int(nr)) != name {
		return 0, false
	}
	return n + int64(uint32(nr)), true
}

// NameOf is the name that has a number; names are those of the unit.
func NameOf(n int64, names []string) (string, bool) {
	switch {
	case n >= SyscallPoints:
		return "syscall:" + kernel.SyscallName(int(int32(n))), true
	case n >= 0:
		return kernel.SyscallName(int(int32(n))), true
	case n >= -int64(len(names)):
		return names[-n-1], true
	}
	return "", false
}
