package main

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The works faults and stores: page faults, and a variable that is written.

// faultsAt is where the pages of faults lie: nothing else is there.
const faultsAt = 0x2000_0000_0000

// faults writes to N pages that nobody has touched: N page faults, one in each page.
func faults(s settings, args []string) (func() (report, error), error) {
	n, err := numbers(args, 1, 1)
	if err != nil {
		return nil, err
	}
	const comm, page = "wl-faults", 4096
	return func() (report, error) {
		mem, err := unix.MmapPtr(-1, 0, unsafe.Add(nil, faultsAt), uintptr(n[0]*page),
			unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED_NOREPLACE)
		if err != nil {
			return report{}, fmt.Errorf("map %d pages: %w", n[0], err)
		}
		pages := unsafe.Slice((*byte)(mem), n[0]*page)
		if err := unix.Madvise(pages, unix.MADV_NOHUGEPAGE); err != nil && err != unix.EINVAL {
			return report{}, fmt.Errorf("ask for small pages: %w", err)
		}
		tids, err := onThreads(1, comm, s.pin, func(int) error {
			for i := 0; i < len(pages); i += page {
				pages[i] = 1
			}
			return nil
		})
		return report{Comm: comm, Calls: n[0], TIDs: tids}, err
	}, nil
}

// watched is what stores writes to.
var watched uint64

// stores writes a variable N times and reads it once for every two writes.
func stores(s settings, args []string) (func() (report, error), error) {
	n, err := numbers(args, 1, 1)
	if err != nil {
		return nil, err
	}
	const comm = "wl-stores"
	return func() (report, error) {
		sum := uint64(0)
		tids, err := onThreads(1, comm, s.pin, func(int) error {
			for i := range n[0] {
				storeWatched(uint64(i))
				if i%2 == 0 {
					sum += loadWatched()
				}
			}
			return nil
		})
		return report{Comm: comm, Calls: n[0], Bytes: int(sum), TIDs: tids}, err
	}, nil
}

//go:noinline
func storeWatched(v uint64) { watched = v }

//go:noinline
func loadWatched() uint64 { return watched }
