package bpf

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// The attach types of links whose program runs at the entry and at the return
// of functions, and decides at the entry whether it does at the return
// (enum bpf_attach_type; golang.org/x/sys does not name them).
const (
	AttachKprobeSession = 56 // 6.10
	AttachUprobeSession = 57 // 6.13
)

// LinkKprobeSession attaches a program to a kernel function.
func LinkKprobeSession(prog int, function string) (int, error) {
	name, err := unix.BytePtrFromString(function)
	if err != nil {
		return -1, err
	}
	attr := struct {
		linkHead
		flags, count uint32
		syms         **byte
		_            [2]uint64
	}{linkHead: linkHead{prog: uint32(prog), attachType: AttachKprobeSession}, count: 1, syms: &name}
	return createLink(&attr)
}

// LinkUprobeSession attaches a program to a place of a file.
func LinkUprobeSession(prog int, path string, offset uint64) (int, error) {
	name, err := unix.BytePtrFromString(path)
	if err != nil {
		return -1, err
	}
	attr := struct {
		linkHead
		path    *byte
		offsets unsafe.Pointer
		_       [2]uint64
		count   uint32
		_       [3]uint32
	}{linkHead: linkHead{prog: uint32(prog), attachType: AttachUprobeSession}, path: name, offsets: unsafe.Pointer(&offset), count: 1}
	return createLink(&attr)
}
