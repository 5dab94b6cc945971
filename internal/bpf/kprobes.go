package bpf

import (
	"errors"
	"runtime"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// Links to many kernel functions by own calls (kprobe_multi).
//
// Links by BPF_LINK_CREATE (struct link_create of union bpf_attr) that package link does not make. They keep their
// program attached until the descriptor is closed.

// linkHead is what the attributes of all links begin with.
type linkHead struct{ prog, target, attachType, _ uint32 }

func createLink[T any](attr *T) (int, error) {
	return call(unix.BPF_LINK_CREATE, unsafe.Pointer(attr), unsafe.Sizeof(*attr))
}

// A descriptor is a link of an own call. The kernel makes all of them close-on-exec.
type descriptor int

func (d descriptor) Close() error { return unix.Close(int(d)) }

// multiReturn asks for the returns of functions (BPF_F_KPROBE_MULTI_RETURN,
// BPF_F_UPROBE_MULTI_RETURN).
const multiReturn = 1

func multiFlags(returns bool) uint32 {
	if returns {
		return multiReturn
	}
	return 0
}

// KnowsKprobes reports whether the kernel knows a kind of links, for which p has been loaded. It offers one name at the
// address 1, which nobody has: EFAULT says that the kernel would read it.
//
// Missing in link: a question that attaches nothing. features.HaveBPFLinkKprobeMulti puts up a probe for a moment, and
// closing that takes some milliseconds.
func KnowsKprobes(p *ebpf.Program, kind KprobeLink) bool {
	attr := struct {
		linkHead
		flags, count uint32
		syms         uint64
		_            [2]uint64
	}{linkHead: linkHead{prog: uint32(p.FD()), attachType: uint32(kind.AttachType())},
		flags: multiFlags(kind == KprobeReturns), count: 1, syms: 1}
	fd, err := createLink(&attr)
	runtime.KeepAlive(p)
	if err == nil {
		_ = unix.Close(fd) // it has read a name there
	}
	return errors.Is(err, unix.EFAULT)
}
