package state

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/wire"
)

// An unkeyed container as words of a map that is mapped into this process.

// A cell is an unkeyed container: the one element of an array that is mapped
// here (BPF_F_MMAPABLE, 5.5). Each word is read and written atomically; a
// value of several words can be seen half changed.
type cell struct {
	val *wire.Fixed // nil for an aggregation
	mem []byte
}

func newCell(m *ebpf.Map, val *wire.Fixed) (*cell, error) {
	mem, err := unix.Mmap(m.FD(), 0, int(m.ValueSize()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map the array: %w", err)
	}
	return &cell{val, mem}, nil
}

func (c *cell) Layout() (key, val *wire.Fixed) { return nil, c.val }

// word is the word at an offset, which must be inside and a multiple of 8.
func (c *cell) word(off int) *uint64 { return (*uint64)(unsafe.Pointer(&c.mem[off : off+8][0])) }

// Lookup always finds the entry.
func (c *cell) Lookup(_, val []byte) (bool, error) {
	if len(val) != len(c.mem) {
		return false, badSize("value", len(val), len(c.mem))
	}
	for off := 0; off < len(val); off += 8 {
		binary.NativeEndian.PutUint64(val[off:], atomic.LoadUint64(c.word(off)))
	}
	return true, nil
}

func (c *cell) Update(_, val []byte) error {
	if len(val) != len(c.mem) {
		return badSize("value", len(val), len(c.mem))
	}
	for off := 0; off < len(val); off += 8 {
		atomic.StoreUint64(c.word(off), binary.NativeEndian.Uint64(val[off:]))
	}
	return nil
}

// Delete makes the entry zero.
func (c *cell) Delete(_ []byte) (bool, error) {
	for off := 0; off < len(c.mem); off += 8 {
		atomic.StoreUint64(c.word(off), 0)
	}
	return true, nil
}

// Pop gives the words as they were when each was made zero.
func (c *cell) Pop(_, val []byte) (bool, error) {
	if len(val) != len(c.mem) {
		return false, badSize("value", len(val), len(c.mem))
	}
	for off := 0; off < len(val); off += 8 {
		binary.NativeEndian.PutUint64(val[off:], atomic.SwapUint64(c.word(off), 0))
	}
	return true, nil
}

func (c *cell) AddInt(_ []byte, off int, delta int64) error {
	if err := checkOffset(off, len(c.mem)); err != nil {
		return err
	}
	atomic.AddUint64(c.word(off), uint64(delta))
	return nil
}

func (c *cell) Swap(_ []byte, off int, old, next uint64) (bool, error) {
	if err := checkOffset(off, len(c.mem)); err != nil {
		return false, err
	}
	return atomic.CompareAndSwapUint64(c.word(off), old, next), nil
}

func (c *cell) Each(f func(key, val []byte) bool) error {
	val := make([]byte, len(c.mem))
	if _, err := c.Lookup(nil, val); err != nil {
		return err
	}
	f(nil, val)
	return nil
}

func (c *cell) Settle() {}

func (c *cell) Close() error {
	if c.mem == nil {
		return nil
	}
	mem := c.mem
	c.mem = nil
	return unix.Munmap(mem)
}

func badSize(what string, got, want int) error {
	return fmt.Errorf("a %s of %d bytes where the map has %d", what, got, want)
}

func checkOffset(off, size int) error {
	if off < 0 || off%8 != 0 || off+8 > size {
		return fmt.Errorf("no int at offset %d of %d bytes", off, size)
	}
	return nil
}
