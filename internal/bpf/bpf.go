// Package bpf makes the bpf(2) calls that cilium/ebpf does not offer, or
// offers only behind feature tests: raw tracepoints, test runs without
// allocation, a program's missed runs, batches of raw bytes, map iterators.
//
// Descriptors are plain ints; whoever receives one closes it. All attributes
// are zero beyond what a call sets, as old kernels demand (include/uapi/linux/bpf.h).
// Attributes hold pointers as pointers, so that the objects stay where they
// are: all supported machines have 64-bit little-endian ones.
package bpf

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Missing reports whether this kernel has no bpf(2) (CONFIG_BPF_SYSCALL), or a filter of system calls says so.
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

// OpenRawTracepoint attaches a raw tracepoint program. Closing the descriptor
// detaches it.
func OpenRawTracepoint(name string, prog int) (int, error) {
	cname, err := unix.BytePtrFromString(name)
	if err != nil {
		return -1, err
	}
	attr := struct {
		name *byte
		prog uint32
		_    uint32
	}{name: cname, prog: uint32(prog)}
	fd, err := call(unix.BPF_RAW_TRACEPOINT_OPEN, unsafe.Pointer(&attr), unsafe.Sizeof(attr))
	if err == nil {
		unix.CloseOnExec(fd)
	}
	return fd, err
}

// ErrNoMisses says that the kernel does not count missed runs (before 5.12).
var ErrNoMisses = errors.New("this kernel does not count missed runs of programs")

// progInfo is the start of struct bpf_prog_info.
type progInfo struct {
	_      [192]byte
	time   uint64 // run_time_ns
	runs   uint64 // run_cnt
	misses uint64
}

// Misses gives recursion_misses of a program: runs that did not happen because
// another run of it, or of its kind, was in progress on that CPU.
func Misses(prog int) (uint64, error) {
	info, size, err := infoOf(prog)
	if err != nil {
		return 0, err
	}
	if size < uint32(unsafe.Sizeof(info)) {
		return 0, ErrNoMisses
	}
	return info.misses, nil
}

// Runs gives how often a program ran, and how long in ns, while the kernel
// counted: see CountRuns.
func Runs(prog int) (runs, ns uint64, err error) {
	info, _, err := infoOf(prog)
	return info.runs, info.time, err
}

func infoOf(prog int) (info progInfo, size uint32, err error) {
	attr := struct {
		fd, size uint32
		info     *progInfo
	}{uint32(prog), uint32(unsafe.Sizeof(info)), &info}
	_, err = call(unix.BPF_OBJ_GET_INFO_BY_FD, unsafe.Pointer(&attr), unsafe.Sizeof(attr))
	return info, attr.size, err
}

// statsRunTime is BPF_STATS_RUN_TIME.
const statsRunTime = 0

// CountRuns makes the kernel count the runs of all programs and measure them, for
// which it reads the clock twice in each, until the descriptor is closed. From 5.8.
func CountRuns() (int, error) {
	attr := struct{ kind uint32 }{statsRunTime}
	fd, err := call(unix.BPF_ENABLE_STATS, unsafe.Pointer(&attr), unsafe.Sizeof(attr))
	if err == nil {
		unix.CloseOnExec(fd)
	}
	return fd, err
}
