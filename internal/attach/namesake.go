package attach

import (
	"errors"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
)

// Static functions of one name: whether a kprobe by name hits one.
//
// Static functions of several files can share a name. Newer kernels refuse to
// probe such a name with EADDRNOTAVAIL (6.6; b022f0c7e404, carried back to 5.10).
// They look before they look at the place, and at the place before they put a
// probe there, so a place that cannot be tells without a probe, and without
// reading /proc/kallsyms.

// nowhere is an offset that leads out of the kernel, and is no instruction's
// where those have 4 bytes; kprobes keep 32 bits of it.
const nowhere = 1<<32 - 1

// surelyShared are names of static functions that every kernel has several
// of: fs/inode.c, net/socket.c and fs/proc/inode.c have an init_once,
// kernel/trace and others a t_next.
var surelyShared = []string{"init_once", "t_next"}

// tellsNamesakes finds out whether this kernel refuses names that several
// functions have.
var tellsNamesakes = sync.OnceValue(func() bool {
	for _, name := range surelyShared {
		if errors.Is(askNowhere(name), unix.EADDRNOTAVAIL) {
			return true
		}
	}
	return false
})

// OnlyFunction reports whether the kernel is known to have just one function of a name. It is false where it has
// several or none, and where the kernel does not tell.
func OnlyFunction(name string) bool {
	return tellsNamesakes() && errors.Is(askNowhere(name), unix.ENOENT)
}

// askNowhere asks for a probe where none can be. There is no error only if the
// kernel put one there all the same.
func askNowhere(function string) error { return askAt(function, nowhere) }

// tryFunction puts a probe at the entry of a function, and takes it away.
func tryFunction(name string) error {
	err := askAt(name, 0)
	if err == nil {
		return nil
	}
	return explainPlace(&tree.Functions{Mech: tree.AttachKprobe}, &tree.Place{Func: name}, err)
}

// askAt asks for a probe in a function, and takes it away.
func askAt(function string, offset uint64) error {
	pmu, err := findPMU(kernelProbes)
	if err != nil {
		return err
	}
	name, err := unix.BytePtrFromString(function)
	if err != nil {
		return err
	}
	attr := pmu.kprobeAttr(&tree.Place{Offset: offset}, name, false)
	attr.Size = uint32(unix.PERF_ATTR_SIZE_VER1)
	fd, err := unix.PerfEventOpen(&attr, -1, 0, -1, unix.PERF_FLAG_FD_CLOEXEC)
	runtime.KeepAlive(name) // attr holds its address as a number
	if err != nil {
		return err
	}
	return unix.Close(fd)
}
