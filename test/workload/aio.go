package main

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Requests of Linux AIO.

// The commands of Linux AIO, of include/uapi/linux/aio_abi.h.
const (
	aioPread, aioPwrite   = 0, 1
	aioPreadv, aioPwritev = 7, 8
)

// aioRequest is struct iocb.
type aioRequest struct {
	_       uint64 // data
	_       uint32 // key
	_       int32  // flags
	command uint16
	_       int16 // priority
	fd      uint32
	buffer  uint64
	length  uint64
	_       int64 // offset
	_       uint64
	_       [2]uint32
}

// aioEnd is struct io_event.
type aioEnd struct {
	data, request   uint64
	result, result2 int64
}

// byAIO makes four requests by one io_submit: to read from, to write to to, and the same with lists of memory. Where
// the kernel has no AIO it does nothing. moved is how many bytes they are to move.
func byAIO(from, to int, moved int64, fds map[string]int) error {
	var context uintptr
	_, _, errno := unix.Syscall(unix.SYS_IO_SETUP, 4, uintptr(unsafe.Pointer(&context)), 0)
	if errno == unix.ENOSYS {
		return nil
	}
	if errno != 0 {
		return errno
	}
	fds["aio"] = -1 // it has no descriptor
	err := submitAIO(context, from, to, moved)
	if _, _, errno := unix.Syscall(unix.SYS_IO_DESTROY, context, 0, 0); errno != 0 {
		return errno
	}
	return err
}

func submitAIO(context uintptr, from, to int, moved int64) error {
	memory := make([]byte, 512)
	buffer := uint64(uintptr(unsafe.Pointer(&memory[0])))
	list := func(size int) uint64 {
		parts := []unix.Iovec{{Base: &memory[0], Len: 100}, {Base: &memory[0], Len: uint64(size - 100)}}
		return uint64(uintptr(unsafe.Pointer(&parts[0])))
	}
	requests := []*aioRequest{
		{command: aioPread, fd: uint32(from), buffer: buffer, length: 501},
		{command: aioPwrite, fd: uint32(to), buffer: buffer, length: 502},
		{command: aioPreadv, fd: uint32(from), buffer: list(503), length: 2},
		{command: aioPwritev, fd: uint32(to), buffer: list(504), length: 2},
	}
	n, _, errno := unix.Syscall(unix.SYS_IO_SUBMIT, context, uintptr(len(requests)),
		uintptr(unsafe.Pointer(&requests[0])))
	if int(n) != len(requests) {
		return fmt.Errorf("io_submit took %d of %d requests: %w", n, len(requests), errno)
	}
	ends := make([]aioEnd, len(requests))
	n, _, errno = unix.Syscall6(unix.SYS_IO_GETEVENTS, context, uintptr(len(ends)), uintptr(len(ends)),
		uintptr(unsafe.Pointer(&ends[0])), 0, 0)
	sum := int64(0)
	for _, end := range ends {
		sum += end.result
	}
	if int(n) != len(ends) || sum != moved {
		return fmt.Errorf("%d requests of AIO moved %d bytes: %w", n, sum, errno)
	}
	return nil
}
