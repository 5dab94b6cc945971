package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The numbers of io_uring, of include/uapi/linux/io_uring.h.
const (
	ringRead, ringWrite = 22, 23
	ringSQEs            = 0x10000000
	ringGetEvents       = 1
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
	_             [3]uint64
}

// ring is a queue of io_uring of four requests.
type ring struct {
	fd, submitted   int
	p               ringParams
	queue, requests []byte
}

// newRing gives nil where the kernel has no io_uring.
func newRing() (*ring, error) {
	r := &ring{}
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&r.p)), 0)
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

// submit makes a request, and waits until so many have ended since the ring was made.
func (r *ring) submit(request ringRequest, ended int) error {
	*(*ringRequest)(unsafe.Pointer(&r.requests[r.submitted*int(unsafe.Sizeof(request))])) = request
	*(*uint32)(unsafe.Pointer(&r.queue[int(r.p.sq.array)+4*r.submitted])) = uint32(r.submitted)
	r.submitted++
	*(*uint32)(unsafe.Pointer(&r.queue[r.p.sq.tail])) = uint32(r.submitted)
	n, _, errno := unix.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(r.fd), 1, uintptr(ended), ringGetEvents, 0, 0)
	if n != 1 {
		return fmt.Errorf("io_uring took %d of 1 requests: %w", n, errno)
	}
	return nil
}

// result is what the request that ended as the n-th, from 0 on, gave. From Linux 5.4 on the ends lie in the same memory
// as the requests' queue (IORING_FEAT_SINGLE_MMAP), at the sixth number of their offsets.
func (r *ring) result(n int) int32 {
	const size, result = 16, 8 // struct io_uring_cqe
	return *(*int32)(unsafe.Pointer(&r.queue[int(r.p.cq.dropped)+n*size+result]))
}

// wait waits until so many requests have ended.
func (r *ring) wait(ended int) error {
	_, _, errno := unix.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(r.fd), 0, uintptr(ended), ringGetEvents, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
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
	buffer := make([]byte, 512)
	address := uint64(uintptr(unsafe.Pointer(&buffer[0])))
	err = errors.Join(
		r.submit(ringRequest{opcode: ringRead, fd: int32(from), address: address, length: 401}, 1),
		r.submit(ringRequest{opcode: ringWrite, fd: int32(to), address: address, length: 402}, 2),
	)
	return errors.Join(err, r.close())
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
	buffer := make([]byte, 512)
	address := uint64(uintptr(unsafe.Pointer(&buffer[0])))
	err = errors.Join(
		r.submit(ringRequest{opcode: ringRead, fd: int32(pipe[0]), address: address, length: 1, userData: 7}, 0),
		r.submit(ringRequest{opcode: ringRead, fd: int32(file), address: address, length: 401, userData: 7}, 1),
	)
	_, writeErr := unix.Write(pipe[1], make([]byte, 1))
	return 2, errors.Join(err, writeErr, r.wait(2), unix.Close(pipe[0]), unix.Close(pipe[1]), unix.Close(file),
		r.close())
}
