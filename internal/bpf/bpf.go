// Package bpf loads programs and attaches them: by cilium/ebpf and its package
// link, and by own calls of bpf(2) and perf_event_open(2) where these lack
// something, or are slow. Each own call has a line that begins with "Missing in"
// and says what that is; the call goes when the library has it.
//
// Handles are ebpf.Program, ebpf.Map and Link; whoever receives one closes it.
// Errors are the kernel's own answers, in no words of a library: those who
// attach say what they mean.
//
// All attributes of own calls are zero beyond what a call sets, as old kernels
// demand (include/uapi/linux/bpf.h). Attributes hold pointers as pointers, so that
// the objects stay where they are: all supported machines have 64-bit
// little-endian ones.
package bpf

import (
	"errors"
	"runtime"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// The own call of bpf(2), and how often programs were skipped (recursion_misses).

// Missing reports whether this kernel has no bpf(2) (CONFIG_BPF_SYSCALL), or a filter of system calls says so.
//
// Missing in ebpf: it says of such a kernel that it lacks the feature that was tested.
func Missing() bool {
	_, err := call(^uintptr(0), nil, 0) // no command: EINVAL, or EPERM where only some may ask
	return errors.Is(err, unix.ENOSYS)
}

// call makes the system call and repeats it while a signal interrupts it:
// BPF_PROG_LOAD and BPF_PROG_TEST_RUN return EAGAIN and EINTR then.
func call(cmd uintptr, attr unsafe.Pointer, size uintptr) (int, error) {
	for {
		r, _, errno := unix.Syscall(unix.SYS_BPF, cmd, uintptr(attr), size)
		switch errno {
		case 0:
			return int(r), nil
		case unix.EINTR:
			continue
		}
		return -1, errno
	}
}

// ErrNoMisses says that the kernel does not count missed runs (before 5.12).
var ErrNoMisses = errors.New("this kernel does not count missed runs of programs")

// progInfo is the start of struct bpf_prog_info.
type progInfo struct {
	_      [208]byte
	misses uint64
}

// Misses gives recursion_misses of a program: runs that did not happen because
// another run of it, or of its kind, was in progress on that CPU.
//
// Missing in ebpf: Program.Stats gives 0 where the kernel does not count.
func Misses(p *ebpf.Program) (uint64, error) {
	var info progInfo
	size, err := infoOf(p.FD(), unsafe.Pointer(&info), unsafe.Sizeof(info))
	runtime.KeepAlive(p)
	if err != nil {
		return 0, err
	}
	if size < unsafe.Sizeof(info) {
		return 0, ErrNoMisses
	}
	return info.misses, nil
}

// infoOf fills in what the kernel tells of an object, and gives the size of that.
func infoOf(fd int, info unsafe.Pointer, size uintptr) (uintptr, error) {
	attr := struct {
		fd, size uint32
		info     unsafe.Pointer
	}{uint32(fd), uint32(size), info}
	_, err := call(unix.BPF_OBJ_GET_INFO_BY_FD, unsafe.Pointer(&attr), unsafe.Sizeof(attr))
	return uintptr(attr.size), err
}
