package bpf

import (
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// Links to many places of a file of programs (uprobe_multi).

// attachUprobeSession is BPF_TRACE_UPROBE_SESSION of enum bpf_attach_type (6.13).
const attachUprobeSession ebpf.AttachType = 57

// A UprobeMulti says where LinkUprobes attaches.
type UprobeMulti struct {
	// Path is the file, as this process can open it.
	Path       string
	Offsets    []uint64 // in the file
	Semaphores []uint64 // nil, or one for each offset, 0 for none
	Cookies    []uint64 // nil, or one for each offset
	PID        int      // the only process, 0: all
	// Returns: at the returns of the functions there, instead of the places themselves.
	Returns bool
	Session bool // at the entry and at the return (6.13)
}

// AttachType is what the link's program is loaded for.
func (u *UprobeMulti) AttachType() ebpf.AttachType {
	if u.Session {
		return attachUprobeSession
	}
	return ebpf.AttachTraceUprobeMulti
}

// LinkUprobes attaches a program to places of a binary, or to the returns of its
// functions, or to both. From 6.6.
func LinkUprobes(p *ebpf.Program, u *UprobeMulti) (Link, error) {
	if u.Session || slices.Contains(u.Offsets, 0) {
		return linkUprobes(p, u)
	}
	file, err := link.OpenExecutable(u.Path)
	if err != nil {
		return nil, plain(err)
	}
	attach := file.UprobeMulti
	if u.Returns {
		attach = file.UretprobeMulti
	}
	return opened(attach(nil, p, &link.UprobeMultiOptions{Addresses: u.Offsets, RefCtrOffsets: u.Semaphores,
		Cookies: u.Cookies, PID: uint32(u.PID)}))
}

// linkUprobes makes the call.
//
// Missing in link: sessions of uprobes. It also takes the place 0 of a file for a symbol that it is to look for.
func linkUprobes(p *ebpf.Program, u *UprobeMulti) (Link, error) {
	path, err := unix.BytePtrFromString(u.Path)
	if err != nil {
		return nil, fmt.Errorf("path %q: %w", u.Path, err)
	}
	attr := struct {
		linkHead
		path                         *byte
		offsets, semaphores, cookies *uint64
		count, flags, pid            uint32
		_                            uint32
	}{
		linkHead: linkHead{prog: uint32(p.FD()), attachType: uint32(u.AttachType())}, path: path,
		offsets: unsafe.SliceData(u.Offsets), semaphores: unsafe.SliceData(u.Semaphores),
		cookies: unsafe.SliceData(u.Cookies),
		count:   uint32(len(u.Offsets)), flags: multiFlags(u.Returns), pid: uint32(u.PID),
	}
	fd, err := createLink(&attr)
	runtime.KeepAlive(p)
	if err != nil {
		return nil, err
	}
	return descriptor(fd), nil
}
