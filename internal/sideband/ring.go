package sideband

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The ring of one CPU in which records of processes come, and how many were lost.

// A ring is that of one CPU: a page with the positions, then records, each a
// header of 8 bytes (u32 kind, u16 misc, u16 size with the header) and its
// body. The positions count bytes and never wrap.
type ring struct {
	cpu int // whose ring it is
	// fd is the perf event that writes here. The ring closes it.
	fd int
	// mem is all that is mapped, and data what of it are records.
	mem, data  []byte
	head, tail *uint64 // the kernel's, ours
	wrapped    []byte  // a copy of a record that wraps at the end of data
}

// The places of the positions (struct perf_event_mmap_page).
const (
	headPlace, tailPlace = 1024, 1032
	headerSize           = 8
)

// newRing takes the memory and the descriptor.
func newRing(fd int, mem []byte, page int) *ring {
	return &ring{
		fd: fd, mem: mem, data: mem[page:],
		head: (*uint64)(unsafe.Pointer(&mem[headPlace])), tail: (*uint64)(unsafe.Pointer(&mem[tailPlace])),
	}
}

func (r *ring) empty() bool { return atomic.LoadUint64(r.head) == *r.tail }

// drain calls f with the records that are there, whose bodies are valid during
// the call, and gives how many the kernel says to have lost.
func (r *ring) drain(f func(kind uint32, misc uint16, body []byte)) (lost uint64, err error) {
	head, at := atomic.LoadUint64(r.head), *r.tail
	defer func() { atomic.StoreUint64(r.tail, at) }()
	if head-at > uint64(len(r.data)) {
		return 0, fmt.Errorf("ring of perf events is damaged: head %d, tail %d", head, at)
	}
	for at < head {
		header := r.bytes(at, headerSize)
		kind, misc, size := binary.NativeEndian.Uint32(header), binary.NativeEndian.Uint16(header[4:]),
			uint64(binary.NativeEndian.Uint16(header[6:]))
		if size < headerSize || size > head-at {
			return lost, fmt.Errorf("ring of perf events is damaged: record of %d bytes at %d, head %d", size, at, head)
		}
		body := r.bytes(at+headerSize, size-headerSize)
		if kind == unix.PERF_RECORD_LOST && len(body) >= 16 {
			lost += binary.NativeEndian.Uint64(body[8:])
		}
		f(kind, misc, body)
		at += size
	}
	return lost, nil
}

func (r *ring) bytes(pos, n uint64) []byte {
	at := pos % uint64(len(r.data))
	if end := at + n; end <= uint64(len(r.data)) {
		return r.data[at:end]
	}
	r.wrapped = append(append(r.wrapped[:0], r.data[at:]...), r.data[:n-(uint64(len(r.data))-at)]...)
	return r.wrapped
}

func (r *ring) close() error {
	err := unix.Munmap(r.mem)
	if closeErr := unix.Close(r.fd); err == nil {
		err = closeErr
	}
	return err
}
