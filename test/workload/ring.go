package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Queues of io_uring, and the work twins.

// The numbers of io_uring, of include/uapi/linux/io_uring.h.
const (
	ringNop, ringRead, ringWrite = 0, 22, 23
	ringSQEs                     = 0x10000000
	ringGetEvents                = 1
	ringEntries                  = 16
	ringAsync, ringSkip          = 1 << 4, 1 << 6 // IOSQE_ASYNC, IOSQE_CQE_SKIP_SUCCESS
)

// ringOffsets are where the parts of a queue lie in its memory.
type ringOffsets struct {
	head, tail, mask, entries, flags, dropped, array, resv1 uint32
	address                                                 uint64
}

// ringParams is struct io_uring_params.
type ringParams struct {
	sqEntries, cqEntries, flags, threadCPU, threadIdle, features, wqFD uint32
	resv                                                               [3]uint32
	sq, cq                                                             ringOffsets
}

// ringRequest is struct io_uring_sqe.
type ringRequest struct {
	opcode, flags uint8
	ioprio        uint16
	fd            int32
	offset        uint64
	address       uint64
	length        uint32
	rwFlags       uint32
	userData      uint64
	buffer        uint16
	personality   uint16
	file          int32 // splice_fd_in, and file_index
	_             [2]uint64
}

// scratch is memory that requests can name by its address: it does not move, as what is on a goroutine's stack can.
var scratch struct {
	bytes [1 << 12]byte
	parts [2]unix.Iovec
	stat  unix.Statx_t
	how   unix.OpenHow
}

func address[T any](part *T) uint64 { return uint64(uintptr(unsafe.Pointer(part))) }

// ring is a queue of io_uring of 16 requests.
type ring struct {
	fd, submitted, taken int
	p                    ringParams
	queue, requests      []byte
}

// newRing gives nil where the kernel has no io_uring.
func newRing() (*ring, error) {
	r := &ring{}
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, ringEntries, uintptr(unsafe.Pointer(&r.p)), 0)
	if errno == unix.ENOSYS || errno == unix.EPERM || errno == unix.EACCES {
		return nil, nil
	}
	if errno != 0 {
		return nil, errno
	}
	r.fd = int(fd)
	var err, requestsErr error
	r.queue, err = unix.Mmap(r.fd, 0, int(r.p.sq.array+4*r.p.sqEntries), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED)
	size := int(r.p.sqEntries) * int(unsafe.Sizeof(ringRequest{}))
	r.requests, requestsErr = unix.Mmap(r.fd, ringSQEs, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return r, errors.Join(err, requestsErr)
}

// submit makes requests, at most 16, and waits for none.
func (r *ring) submit(requests ...ringRequest) error {
	for _, request := range requests {
		at := r.submitted % int(r.p.sqEntries)
		*(*ringRequest)(unsafe.Pointer(&r.requests[at*int(unsafe.Sizeof(request))])) = request
		*(*uint32)(unsafe.Pointer(&r.queue[int(r.p.sq.array)+4*at])) = uint32(at)
		r.submitted++
	}
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&r.queue[r.p.sq.tail])), uint32(r.submitted))
	n, _, errno := unix.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(r.fd), uintptr(len(requests)), 0, 0, 0, 0)
	if int(n) != len(requests) {
		return fmt.Errorf("io_uring took %d of %d requests: %w", n, len(requests), errno)
	}
	return nil
}

// wait waits for so many ends, and gives what the requests came to, in the order in which they ended.
func (r *ring) wait(n int) ([]int32, error) {
	_, _, errno := unix.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(r.fd), 0, uintptr(n), ringGetEvents, 0, 0)
	if errno != 0 {
		return nil, errno
	}
	results := make([]int32, n)
	for i := range results {
		results[i] = r.result(r.taken)
		r.taken++
	}
	// From Linux 5.4 on the head of the ends lies in the same memory as the requests' queue (IORING_FEAT_SINGLE_MMAP).
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&r.queue[r.p.cq.head])), uint32(r.taken))
	return results, nil
}

// do makes requests and waits for the ends of all.
func (r *ring) do(requests ...ringRequest) ([]int32, error) {
	if err := r.submit(requests...); err != nil {
		return nil, err
	}
	return r.wait(len(requests))
}

// result is what the request that ended as the n-th, from 0 on, gave. The ends lie at the sixth number of their
// offsets.
func (r *ring) result(n int) int32 {
	const size, result = 16, 8 // struct io_uring_cqe
	return *(*int32)(unsafe.Pointer(&r.queue[int(r.p.cq.dropped)+n%int(r.p.cqEntries)*size+result]))
}

func (r *ring) close() error {
	return errors.Join(unix.Munmap(r.requests), unix.Munmap(r.queue), unix.Close(r.fd))
}

// byRing makes a request to read and one to write, one after the other. Where the kernel has no io_uring it does
// nothing.
func byRing(from, to int, fds map[string]int) error {
	r, err := newRing()
	if r == nil || err != nil {
		return err
	}
	fds["ring"] = r.fd
	memory := address(&scratch.bytes)
	_, readErr := r.do(ringRequest{opcode: ringRead, fd: int32(from), address: memory, length: 401})
	_, writeErr := r.do(ringRequest{opcode: ringWrite, fd: int32(to), address: memory, length: 402})
	return errors.Join(readErr, writeErr, r.close())
}

// twins makes two requests of io_uring that have the same number and are under way at one time: to read a pipe, into
// which a byte is written at the end, and 401 bytes of the file "twin" of a folder. Calls is 0 where there is no
// io_uring.
func twins(s settings, args []string) (func() (report, error), error) {
	if len(args) != 1 {
		return nil, errors.New("twins takes a folder")
	}
	if err := os.WriteFile(filepath.Join(args[0], "twin"), make([]byte, 1<<12), 0o600); err != nil {
		return nil, err
	}
	return func() (report, error) {
		done := report{Comm: "wl-twins"}
		tids, err := onThreads(1, done.Comm, s.pin, func(int) (err error) {
			done.Calls, err = twinReads(filepath.Join(args[0], "twin"))
			return err
		})
		done.TIDs = tids
		return done, err
	}, nil
}

func twinReads(name string) (int, error) {
	r, err := newRing()
	if r == nil || err != nil {
		return 0, err
	}
	file, err := unix.Open(name, unix.O_RDONLY, 0)
	if err != nil {
		return 0, err
	}
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], 0); err != nil {
		return 0, err
	}
	memory := address(&scratch.bytes)
	err = r.submit(
		ringRequest{opcode: ringRead, fd: int32(pipe[0]), address: memory, length: 1, userData: 7},
		ringRequest{opcode: ringRead, fd: int32(file), address: memory, length: 401, userData: 7})
	_, endErr := r.wait(1)
	_, writeErr := unix.Write(pipe[1], make([]byte, 1))
	_, lastErr := r.wait(1)
	return 2, errors.Join(err, endErr, writeErr, lastErr, unix.Close(pipe[0]), unix.Close(pipe[1]), unix.Close(file),
		r.close())
}
