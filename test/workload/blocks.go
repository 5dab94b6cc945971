package main

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// blockSize is the size of a request of blocks.
const blockSize = 4096

// blocks reads N blocks of a block device, each by a request of its own: O_DIRECT passes the page cache by.
func blocks(s settings, args []string) (func() (report, error), error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("blocks takes a number and a block device")
	}
	n, err := numbers(args[:1], 1, 1)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Open(args[1], unix.O_RDONLY|unix.O_DIRECT, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", args[1], err)
	}
	const comm = "wl-blocks"
	return func() (report, error) {
		tids, err := onThreads(1, comm, s.pin, func(int) error { return readBlocks(fd, n[0]) })
		return report{Comm: comm, Calls: n[0], Bytes: n[0] * blockSize, TIDs: tids}, err
	}, nil
}

func readBlocks(fd, n int) error {
	twice := make([]byte, 2*blockSize)
	start := -uintptr(unsafe.Pointer(&twice[0])) & (blockSize - 1) // O_DIRECT wants memory that is aligned
	buffer := twice[start : start+blockSize]
	for i := range n {
		got, err := unix.Pread(fd, buffer, int64(i)*blockSize)
		if err != nil || got != blockSize {
			return fmt.Errorf("read block %d: %d bytes, %w", i, got, err)
		}
	}
	return nil
}
