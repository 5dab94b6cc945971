package main

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The works blocks and flushes: requests to a block device.

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

// flushes writes N blocks of a block device by requests of their own, each with O_DSYNC: what it writes has to be on
// the disk when the call returns, so each write goes with a flush of the disk's cache. Then it asks for N flushes
// alone.
func flushes(s settings, args []string) (func() (report, error), error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("flushes takes a number and a block device")
	}
	n, err := numbers(args[:1], 1, 1)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Open(args[1], unix.O_WRONLY|unix.O_DIRECT|unix.O_DSYNC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", args[1], err)
	}
	const comm = "wl-flushes"
	return func() (report, error) {
		tids, err := onThreads(1, comm, s.pin, func(int) error { return writeAndFlush(fd, n[0]) })
		return report{Comm: comm, Calls: n[0], Bytes: n[0] * blockSize, TIDs: tids}, err
	}, nil
}

func writeAndFlush(fd, n int) error {
	buffer := block()
	for i := range n {
		got, err := unix.Pwrite(fd, buffer, int64(i+1)*blockSize)
		if err != nil || got != blockSize {
			return fmt.Errorf("write block %d: %d bytes, %w", i+1, got, err)
		}
	}
	for range n {
		if err := unix.Fsync(fd); err != nil {
			return fmt.Errorf("fsync: %w", err)
		}
	}
	return nil
}

// block is memory for one block, aligned as O_DIRECT wants it.
func block() []byte {
	twice := make([]byte, 2*blockSize)
	start := -uintptr(unsafe.Pointer(&twice[0])) & (blockSize - 1)
	return twice[start : start+blockSize]
}

func readBlocks(fd, n int) error {
	buffer := block()
	for i := range n {
		got, err := unix.Pread(fd, buffer, int64(i)*blockSize)
		if err != nil || got != blockSize {
			return fmt.Errorf("read block %d: %d bytes, %w", i, got, err)
		}
	}
	return nil
}
