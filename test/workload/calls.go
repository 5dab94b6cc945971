package main

import (
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The works getppid and reads: system calls of known number.

func pointer(p *byte) unsafe.Pointer { return unsafe.Pointer(p) }

func pointers(list []*byte) unsafe.Pointer { return unsafe.Pointer(&list[0]) }

// getppid makes N calls of a system call that does nothing and that Go's runtime never makes.
func getppid(s settings, args []string) (func() (report, error), error) {
	n, err := numbers(args, 1, 2)
	if err != nil {
		return nil, err
	}
	calls, threads := n[0], n[1]
	const comm = "wl-getppid"
	return func() (report, error) {
		tids, err := onThreads(threads, comm, s.pin, func(thread int) error {
			for range share(calls, threads, thread) {
				unix.RawSyscallNoError(unix.SYS_GETPPID, 0, 0, 0)
			}
			return nil
		})
		return report{Comm: comm, Calls: calls, TIDs: tids}, err
	}, nil
}

// reads reads from /dev/zero, which gives as much as it is asked for.
func reads(s settings, args []string) (func() (report, error), error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("reads takes a number and sizes")
	}
	n, err := numbers(args[:1], 1, 1)
	if err != nil {
		return nil, err
	}
	words := strings.Split(args[1], ",")
	sizes, err := numbers(words, len(words), len(words))
	if err != nil {
		return nil, err
	}
	zero, err := os.Open("/dev/zero")
	if err != nil {
		return nil, err
	}
	const comm = "wl-reads"
	return func() (report, error) {
		done := report{Comm: comm, Calls: n[0], Sizes: map[int]int{}}
		done.TIDs, err = onThreads(1, comm, s.pin, func(int) error {
			for i := range n[0] {
				size := sizes[i%len(sizes)]
				done.Sizes[size]++
				done.Bytes += size
				if err := readOnce(zero.Fd(), make([]byte, size)); err != nil {
					return err
				}
			}
			return nil
		})
		return done, err
	}, nil
}

func readOnce(fd uintptr, buffer []byte) error {
	got, _, errno := unix.RawSyscall(unix.SYS_READ, fd, uintptr(pointer(&buffer[0])), uintptr(len(buffer)))
	if errno != 0 || int(got) != len(buffer) {
		return fmt.Errorf("read %d bytes of /dev/zero: got %d, %w", len(buffer), got, errno)
	}
	return nil
}
