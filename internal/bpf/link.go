package bpf

import (
	"fmt"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// Links by BPF_LINK_CREATE (struct link_create of union bpf_attr). All keep
// their program attached until the descriptor is closed.

// The attach types of links that golang.org/x/sys does not name
// (enum bpf_attach_type).
const (
	attachPerfEvent     = 41 // 5.15
	attachKprobeMulti   = 42 // 5.18
	attachUprobeMulti   = 48 // 6.6
	attachKprobeSession = 56 // 6.10
	attachUprobeSession = 57 // 6.13
)

// linkHead is what all links begin with.
type linkHead struct{ prog, target, attachType, _ uint32 }

func createLink[T any](attr *T) (int, error) {
	fd, err := call(unix.BPF_LINK_CREATE, unsafe.Pointer(attr), unsafe.Sizeof(*attr))
	if err == nil {
		unix.CloseOnExec(fd)
	}
	return fd, err
}

// LinkPerfEvent attaches a program to a perf event with a cookie. The link
// keeps the event alive. From 5.15.
func LinkPerfEvent(prog, event int, cookie uint64) (int, error) {
	attr := struct {
		linkHead
		cookie uint64
	}{linkHead{prog: uint32(prog), target: uint32(event), attachType: attachPerfEvent}, cookie}
	return createLink(&attr)
}

// multiReturn asks for the returns of functions (BPF_F_KPROBE_MULTI_RETURN,
// BPF_F_UPROBE_MULTI_RETURN).
const multiReturn = 1

func multiFlags(returns bool) uint32 {
	if returns {
		return multiReturn
	}
	return 0
}

// A KprobeLink is a kind of links to many kernel functions.
type KprobeLink uint8

// The kinds of links. A program of KprobeSession runs at the return of a call only
// where it has given 0 at the entry.
const (
	KprobeMulti   KprobeLink = iota // at the entry; 5.18
	KprobeReturns                   // at the return; 5.18
	KprobeSession                   // at both; 6.10
)

// AttachType is what the link's program is loaded for.
func (k KprobeLink) AttachType() ebpf.AttachType {
	if k == KprobeSession {
		return attachKprobeSession
	}
	return attachKprobeMulti
}

// LinkKprobes attaches a program to kernel functions by name. The kernel refuses
// all of them (ENOENT, ESRCH) if there is one that it does not know or cannot
// trace.
func LinkKprobes(prog int, kind KprobeLink, names []string, cookies []uint64) (int, error) {
	syms := make([]*byte, len(names))
	for i, n := range names {
		p, err := unix.BytePtrFromString(n)
		if err != nil {
			return -1, fmt.Errorf("function %q: %w", n, err)
		}
		syms[i] = p
	}
	attr := kprobesAttr(prog, kind, len(names))
	attr.syms, attr.cookies = unsafe.SliceData(syms), unsafe.SliceData(cookies)
	return createLink(&attr)
}

// LinkNoKprobes is LinkKprobes with one name at the address 1, which nobody has:
// EFAULT says that the kernel knows the link.
func LinkNoKprobes(prog int, kind KprobeLink) (int, error) {
	head := kprobesAttr(prog, kind, 1)
	attr := struct {
		linkHead
		flags, count uint32
		syms         uint64
		_            [2]uint64
	}{linkHead: head.linkHead, flags: head.flags, count: head.count, syms: 1}
	return createLink(&attr)
}

// kprobes is the kprobe_multi part of union bpf_attr.
type kprobes struct {
	linkHead
	flags, count uint32
	syms         **byte
	_            uint64 // addresses, instead of names
	cookies      *uint64
}

func kprobesAttr(prog int, kind KprobeLink, count int) kprobes {
	return kprobes{
		linkHead: linkHead{prog: uint32(prog), attachType: uint32(kind.AttachType())},
		flags:    multiFlags(kind == KprobeReturns), count: uint32(count),
	}
}

// linkInfo is the start of struct bpf_link_info, with its part for kprobe_multi.
type linkInfo struct {
	_      [16]byte // type, id, program
	_      [16]byte // addresses, how many, flags
	missed uint64
}

// Missed gives how many calls a link of LinkKprobes did not see: the kernel had no
// room to remember a call until its return, or was in another probe. Kernels before
// 6.7 do not count them: 0.
func Missed(link int) (uint64, error) {
	var info linkInfo
	attr := struct {
		fd, size uint32
		info     *linkInfo
	}{uint32(link), uint32(unsafe.Sizeof(info)), &info}
	if _, err := call(unix.BPF_OBJ_GET_INFO_BY_FD, unsafe.Pointer(&attr), unsafe.Sizeof(attr)); err != nil {
		return 0, fmt.Errorf("read what a link missed: %w", err)
	}
	return info.missed, nil
}

// A UprobeMulti says where LinkUprobeMulti attaches.
type UprobeMulti struct {
	Path       string
	Offsets    []uint64 // in the file
	Semaphores []uint64 // nil, or one for each offset, 0 for none
	Cookies    []uint64 // nil, or one for each offset
	PID        int      // the only process, 0: all
	Returns    bool
	Session    bool // at the entry and at the return (6.13)
}

// AttachType is what the link's program is loaded for.
func (u *UprobeMulti) AttachType() ebpf.AttachType {
	if u.Session {
		return attachUprobeSession
	}
	return attachUprobeMulti
}

// LinkUprobeMulti attaches a program to places of a binary, or to the returns
// of its functions. From 6.6.
func LinkUprobeMulti(prog int, u *UprobeMulti) (int, error) {
	path, err := unix.BytePtrFromString(u.Path)
	if err != nil {
		return -1, fmt.Errorf("path %q: %w", u.Path, err)
	}
	attr := struct {
		linkHead
		path                         *byte
		offsets, semaphores, cookies *uint64
		count, flags, pid            uint32
		_                            uint32
	}{
		linkHead: linkHead{prog: uint32(prog), attachType: uint32(u.AttachType())}, path: path,
		offsets: unsafe.SliceData(u.Offsets), semaphores: unsafe.SliceData(u.Semaphores),
		cookies: unsafe.SliceData(u.Cookies),
		count:   uint32(len(u.Offsets)), flags: multiFlags(u.Returns), pid: uint32(u.PID),
	}
	return createLink(&attr)
}

// AttachTracing attaches a program (Tracing) to the function that it was loaded
// for.
func AttachTracing(prog int) (int, error) {
	attr := struct {
		name *byte
		prog uint32
		_    uint32
	}{prog: uint32(prog)}
	fd, err := call(unix.BPF_RAW_TRACEPOINT_OPEN, unsafe.Pointer(&attr), unsafe.Sizeof(attr))
	if err == nil {
		unix.CloseOnExec(fd)
	}
	return fd, err
}

// OpenIterator attaches an iterator program and gives a descriptor whose reads
// run it for each object. From 5.8.
func OpenIterator(prog int) (int, error) {
	attr := linkHead{prog: uint32(prog), attachType: unix.BPF_TRACE_ITER}
	link, err := createLink(&attr)
	if err != nil {
		return -1, err
	}
	defer unix.Close(link) // the iterator keeps it alive
	return newIterator(link)
}

func newIterator(link int) (int, error) {
	open := struct{ link, flags uint32 }{link: uint32(link)}
	fd, err := call(unix.BPF_ITER_CREATE, unsafe.Pointer(&open), unsafe.Sizeof(open))
	if err == nil {
		unix.CloseOnExec(fd)
	}
	return fd, err
}
