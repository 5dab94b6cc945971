package bpf

import (
	"runtime"
	"unsafe"

	"github.com/cilium/ebpf"
)

// Many entries of a hash map read by one call (BPF_MAP_LOOKUP_BATCH).

const mapLookupBatch = 24

// LookupBatch copies the next entries of a hash map into keys and values, as
// many as fit; cursor is where the last call stopped, nil at first, and next
// receives where this one did (both as long as a key, at least 4 bytes). It
// gives the number of entries; the error is ENOENT with the last ones, and
// ENOSPC if not even one bucket fits. From 5.6.
//
// Missing in ebpf: Map.BatchLookup wants slices of types that are as large as a
// key and a value, and these sizes are known at run time only.
func LookupBatch(m *ebpf.Map, cursor, next, keys, values []byte, count int) (int, error) {
	attr := struct {
		in, out, keys, values *byte
		count, m              uint32
		elemFlags, flags      uint64
	}{
		in: unsafe.SliceData(cursor), out: unsafe.SliceData(next),
		keys: unsafe.SliceData(keys), values: unsafe.SliceData(values),
		count: uint32(count), m: uint32(m.FD()),
	}
	_, err := call(mapLookupBatch, unsafe.Pointer(&attr), unsafe.Sizeof(attr))
	runtime.KeepAlive(m)
	return int(attr.count), err
}
