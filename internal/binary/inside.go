package binary

import (
	"fmt"
	"runtime"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/gofunc"
)

// Why no probe may stand some bytes behind the start of a function.

// Inside says why no probe may stand some bytes behind the start of a function
// that was found, nil if an instruction begins there. A probe in the middle of
// one would make another instruction of it.
func (f *Finder) Inside(at *File, fn Function, offset uint64) error {
	e := f.open[at.Path]
	if e == nil {
		return fmt.Errorf("%s is not open", at.Path)
	}
	addr, ok := e.Addr(fn.Start)
	if !ok {
		return fmt.Errorf("%s has no code at %#x", at.Name, fn.Start)
	}
	size := offset + longest // of assembly, whose length is not said
	if known, ok := e.At(addr); ok && known.Size > 0 {
		size = known.Size
	}
	if offset >= size {
		return fmt.Errorf("%s ends before: it has %d bytes", fn.Name, size)
	}
	code, err := e.Code(addr, size)
	if err != nil {
		return err
	}
	begin, err := gofunc.Boundary(runtime.GOARCH, code, int(offset))
	if err != nil {
		return fmt.Errorf("%s: %w", fn.Name, err)
	}
	if uint64(begin) != offset {
		return fmt.Errorf("that is in the middle of an instruction, which begins at %s+%#x", fn.Name, begin)
	}
	return nil
}

// Steps says why the kernel cannot probe the instruction so many bytes behind the start of a function, nil if it
// perhaps can.
func (f *Finder) Steps(at *File, fn Function, offset uint64) error {
	e := f.open[at.Path]
	if e == nil {
		return nil
	}
	addr, ok := e.Addr(fn.Start)
	if !ok {
		return nil // Inside says so
	}
	return steps(e, addr+offset)
}

// steps says why the kernel cannot probe the instruction at an address, nil if it perhaps can.
func steps(e *elffile.File, addr uint64) error {
	code, err := e.Code(addr, longest)
	if err != nil {
		return err
	}
	if fn, ok := e.At(addr); !ok || fn.Addr != addr {
		if err := gofunc.BecomesCall(runtime.GOARCH, code); err != nil {
			return err
		}
	}
	return gofunc.Steppable(runtime.GOARCH, code)
}

// longest is the length of the longest instruction (amd64).
const longest = 15
