package state

import (
	"errors"
	"fmt"
	"io"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/bpf"
)

// A table read by a map iterator.

// iteratorTarget is the kernel's function that stands for map iterators.
const iteratorTarget = "bpf_iter_bpf_map_elem"

// A mapIterator reads a table through a map iterator (5.10, needs the kernel's
// BTF): reading its file runs a program for each entry, which writes key and
// value to the file (BenchmarkEach compares the ways).
type mapIterator struct {
	m            *ebpf.Map
	prog         *ebpf.Program
	buf          []byte
	keyLen, size int
}

func newIterator(m *ebpf.Map, o Options) (*mapIterator, error) {
	if o.FuncID == nil {
		return nil, errors.New("map iterators need the kernel's BTF")
	}
	id, err := o.FuncID(iteratorTarget)
	if err != nil {
		return nil, err
	}
	it := &mapIterator{m: m, keyLen: int(m.KeySize()), size: int(m.KeySize() + m.ValueSize())}
	// The kernel hands out whole entries, at most 8 pages of them at once.
	it.buf = make([]byte, 0, max(1<<15, it.size))
	it.prog, err = bpf.Load(&bpf.Program{
		Name: "iterator", Type: ebpf.Tracing, AttachType: ebpf.AttachTraceIter, AttachBTF: uint32(id),
		Instructions: iteratorCode(m),
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("program of a map iterator: %w", err)
	}
	return it, nil
}

// iteratorCode is the program. Its context is struct bpf_iter__bpf_map_elem:
// meta (whose first field is the file), map, key, value; key and value are
// NULL in the last call.
func iteratorCode(m *ebpf.Map) asm.Instructions {
	write := func(data asm.Register, size uint32) asm.Instructions {
		return code(
			asm.LoadMem(asm.R1, asm.R6, 0, asm.DWord), asm.LoadMem(asm.R1, asm.R1, 0, asm.DWord),
			asm.Mov.Reg(asm.R2, data), asm.Mov.Imm(asm.R3, int32(size)), asm.FnSeqWrite.Call())
	}
	return code(
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMem(asm.R7, asm.R6, 16, asm.DWord), asm.JEq.Imm(asm.R7, 0, "end"),
		asm.LoadMem(asm.R8, asm.R6, 24, asm.DWord), asm.JEq.Imm(asm.R8, 0, "end"),
		write(asm.R7, m.KeySize()), write(asm.R8, m.ValueSize()),
		give("end", 0),
	)
}

func (it *mapIterator) each(f func(key, val []byte) bool) error {
	entries, err := bpf.OpenIterator(it.prog, it.m)
	if err != nil {
		return fmt.Errorf("open a map iterator: %w", err)
	}
	defer entries.Close()
	it.buf = it.buf[:0]
	for {
		n, err := entries.Read(it.buf[len(it.buf):cap(it.buf)])
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN): // EAGAIN: 1 s without an entry
			continue
		case errors.Is(err, io.EOF) && len(it.buf) > 0:
			return fmt.Errorf("a map iterator ended within an entry")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read a map iterator: %w", err)
		}
		it.buf = it.buf[:len(it.buf)+n]
		if !it.deliver(f) {
			return nil
		}
	}
}

// deliver gives the whole entries in the buffer and keeps a rest.
func (it *mapIterator) deliver(f func(key, val []byte) bool) bool {
	at := 0
	for ; at+it.size <= len(it.buf); at += it.size {
		val, end := at+it.keyLen, at+it.size
		if !f(it.buf[at:val:val], it.buf[val:end:end]) {
			return false
		}
	}
	it.buf = it.buf[:copy(it.buf, it.buf[at:])]
	return true
}

func (it *mapIterator) close() error {
	return it.prog.Close()
}
