package bpf

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// OpenMapIterator attaches an iterator program (Tracing, AttachTraceIter, the
// kernel's function bpf_iter_bpf_map_elem) to a map and gives a descriptor
// whose reads run the program for each element. From 5.10.
func OpenMapIterator(prog, m int) (int, error) {
	info := struct{ m, _ uint32 }{m: uint32(m)}
	create := struct {
		prog, target, attachType, flags uint32
		info                            *struct{ m, _ uint32 }
		infoSize                        uint32
		_                               uint32
	}{prog: uint32(prog), attachType: unix.BPF_TRACE_ITER, info: &info, infoSize: 4}
	link, err := call(unix.BPF_LINK_CREATE, unsafe.Pointer(&create), unsafe.Sizeof(create))
	if err != nil {
		return -1, err
	}
	// The iterator keeps the link alive.
	defer unix.Close(link)
	return newIterator(link)
}
