package main

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The work edge: a text before memory that cannot be read.

// edge calls write once with a text that lies before memory that cannot be read, without a NUL; there is no such
// descriptor.
func edge(s settings, args []string) (func() (report, error), error) {
	if len(args) != 1 {
		return nil, errors.New("want a text")
	}
	page, text := os.Getpagesize(), args[0]
	memory, err := unix.Mmap(-1, 0, 2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, err
	}
	if err := unix.Mprotect(memory[page:], unix.PROT_NONE); err != nil {
		return nil, err
	}
	at := memory[page-len(text) : page]
	copy(at, text)
	const comm = "wl-edge"
	return func() (report, error) {
		tids, err := onThreads(1, comm, s.pin, func(int) error {
			const none = ^uintptr(0)
			unix.RawSyscall(unix.SYS_WRITE, none, uintptr(unsafe.Pointer(&at[0])), uintptr(len(at)))
			return nil
		})
		return report{Comm: comm, Calls: 1, Failed: 1, TIDs: tids}, err
	}, nil
}
