package main

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The work structs: calls of functions that take structs by value.

// structs makes N calls each of system calls for which the kernel calls functions that take structs by value: in call
// i, from 1 on, the time of DIR is set to i seconds and i*1000 nanoseconds, its owner to 100*i, TCP_KEEPIDLE of a
// socket to i, and i pages are to be moved to the node 0. What is moved or not does not matter.
func structs(s settings, args []string) (func() (report, error), error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("structs takes a number and a folder")
	}
	n, err := numbers(args[:1], 1, 1)
	if err != nil {
		return nil, err
	}
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, err
	}
	const comm = "wl-structs"
	page := make([]byte, os.Getpagesize())
	return func() (report, error) {
		tids, err := onThreads(1, comm, s.pin, func(int) error {
			for i := 1; i <= n[0]; i++ {
				at := []unix.Timespec{{Sec: int64(i), Nsec: int64(i) * 1000}, {Sec: int64(i), Nsec: int64(i) * 1000}}
				err := unix.UtimesNanoAt(unix.AT_FDCWD, args[1], at, 0)
				err = errors.Join(err, unix.Chown(args[1], 100*i, -1),
					unix.SetsockoptInt(socket, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, i))
				movePages(i, &page[0])
				if err != nil {
					return err
				}
			}
			return nil
		})
		return report{Comm: comm, Calls: n[0], TIDs: tids}, err
	}, nil
}

// movePages asks for the page of p n times.
func movePages(n int, p *byte) {
	pages, nodes, status := make([]*byte, n), make([]int32, n), make([]int32, n)
	for i := range pages {
		pages[i] = p
	}
	const moveOwn = 1 << 1 // MPOL_MF_MOVE
	_, _, _ = unix.RawSyscall6(unix.SYS_MOVE_PAGES, 0, uintptr(n), uintptr(unsafe.Pointer(&pages[0])),
		uintptr(unsafe.Pointer(&nodes[0])), uintptr(unsafe.Pointer(&status[0])), moveOwn)
}
