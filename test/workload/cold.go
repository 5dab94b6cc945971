package main

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The work cold: names in pages that nothing has touched.

// cold calls openat N times with names that lie in pages which nothing has touched: the call itself is the first to
// read them. The names are those that coldName gives; there are no such files.
func cold(s settings, args []string) (func() (report, error), error) {
	n, err := numbers(args, 1, 1)
	if err != nil {
		return nil, err
	}
	names, err := os.CreateTemp("", "cold")
	if err != nil {
		return nil, err
	}
	os.Remove(names.Name())
	size := unix.Getpagesize()
	for i := range n[0] {
		if _, err := names.WriteAt([]byte(coldName(i)+"\x00"), int64(i*size)); err != nil {
			return nil, err
		}
	}
	const comm = "wl-cold"
	return func() (report, error) {
		tids, err := onThreads(1, comm, s.pin, func(int) error {
			for i := range n[0] {
				if err := openCold(int(names.Fd()), i, size); err != nil {
					return err
				}
			}
			return nil
		})
		return report{Comm: comm, Calls: n[0], Failed: n[0], TIDs: tids}, err
	}, nil
}

func coldName(i int) string { return fmt.Sprintf("/nonexistent/cold/%d", i) }

// openCold maps one page by itself: the kernel maps the neighbours of a page that is touched too.
func openCold(fd, i, size int) error {
	page, err := unix.Mmap(fd, int64(i*size), size, unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return err
	}
	_, _, errno := unix.RawSyscall6(unix.SYS_OPENAT, 0, uintptr(unsafe.Pointer(unsafe.SliceData(page))), unix.O_RDONLY,
		0, 0, 0)
	if errno != unix.ENOENT {
		return fmt.Errorf("open %s: %w", coldName(i), errno)
	}
	return unix.Munmap(page)
}
