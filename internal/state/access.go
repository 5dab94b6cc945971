package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/bpf"
)

// A program by which user space looks up, sets and removes single entries of a map.

// The operations of an access program, its first argument.
const (
	opLookup = iota // key → value
	opUpdate        // key, value
	opDelete        // key
	opAdd           // key; the second argument is an offset, the third is added there
	opPop           // key → value
	opClear         // key; the second argument is the number of the bank to make zero
)

// An access is a program that works on single entries of a hash map, and the
// memory through which keys and values pass:
//
//	key | value | zeros, as large as a value
type access struct {
	prog         *ebpf.Program
	area         *ebpf.Map
	mem          []byte
	keyLen, vLen int
}

// newAccess prepares it; bank is the size of a bank of a value, 0 where values
// have none.
func newAccess(m *ebpf.Map, bank int) (_ *access, err error) {
	a := &access{keyLen: int(m.KeySize()), vLen: int(m.ValueSize())}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("prepare access to a map: %w", err), a.close())
		}
	}()
	if a.area, a.mem, err = newArea(1, a.keyLen+2*a.vLen); err != nil {
		return nil, err
	}
	a.prog, err = bpf.Load(&bpf.Program{
		Name: "access", Type: ebpf.RawTracepoint, Instructions: accessCode(m, a.area, bank),
	}, nil)
	return a, err
}

// newArea makes an array of n elements and maps it.
func newArea(n, size int) (*ebpf.Map, []byte, error) {
	m, err := ebpf.NewMap(&ebpf.MapSpec{
		Name: "area", Type: ebpf.Array, KeySize: 4, ValueSize: uint32(size), MaxEntries: uint32(n),
		Flags: unix.BPF_F_MMAPABLE,
	})
	if err != nil {
		return nil, nil, err
	}
	mem, err := unix.Mmap(m.FD(), 0, n*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, errors.Join(err, m.Close())
	}
	return m, mem, nil
}

// accessCode is the program. R6 to R8 are its arguments, R9 the area.
func accessCode(m, area *ebpf.Map, bank int) asm.Instructions {
	keyLen, vLen := int(m.KeySize()), int(m.ValueSize())
	find := code(mapPtr(asm.R1, m), asm.Mov.Reg(asm.R2, asm.R9), asm.FnMapLookupElem.Call())
	return code(
		asm.LoadMem(asm.R6, asm.R1, 0, asm.DWord),
		asm.LoadMem(asm.R7, asm.R1, 8, asm.DWord),
		asm.LoadMem(asm.R8, asm.R1, 16, asm.DWord),
		mapMem(asm.R9, area),
		asm.JEq.Imm(asm.R6, opUpdate, "update"),
		asm.JEq.Imm(asm.R6, opDelete, "delete"),
		asm.JEq.Imm(asm.R6, opAdd, "add"),
		asm.JEq.Imm(asm.R6, opPop, "pop"),
		asm.JEq.Imm(asm.R6, opClear, "clear"),

		find, asm.JEq.Imm(asm.R0, 0, "absent"),
		copyWords(asm.R9, keyLen, asm.R0, 0, vLen), asm.Ja.Label("ok"),

		mapPtr(asm.R1, m).WithSymbol("update"),
		asm.Mov.Reg(asm.R2, asm.R9), address(asm.R3, asm.R9, keyLen), asm.Mov.Imm(asm.R4, int32(ebpf.UpdateAny)),
		asm.FnMapUpdateElem.Call(), asm.JEq.Imm(asm.R0, 0, "ok"), asm.Return(),

		labelled("pop", find), asm.JEq.Imm(asm.R0, 0, "absent"),
		copyWords(asm.R9, keyLen, asm.R0, 0, vLen), asm.Ja.Label("delete"),

		mapPtr(asm.R1, m).WithSymbol("delete"),
		asm.Mov.Reg(asm.R2, asm.R9), asm.FnMapDeleteElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "ok"), asm.Return(),

		addCode(m, find, keyLen, vLen),
		clearCode(find, bank),
		give("ok", ranOK),
		give("absent", ranAbsent),
	)
}

// clearCode makes a bank zero, word by word; nobody fills it meanwhile.
func clearCode(find asm.Instructions, bank int) asm.Instructions {
	out := code(
		labelled("clear", find), asm.JEq.Imm(asm.R0, 0, "absent"),
		asm.And.Imm(asm.R7, 1), asm.Mul.Imm(asm.R7, int32(bank)), asm.Add.Reg(asm.R0, asm.R7), asm.Mov.Imm(asm.R1, 0))
	for off := 0; off < bank; off += 8 {
		out = append(out, asm.StoreMem(asm.R0, int16(off), asm.R1, asm.DWord))
	}
	return append(out, asm.Ja.Label("ok"))
}

// addCode adds as programs of scripts do: insert zeros if the key is new,
// whoever inserts; look up again; add atomically.
func addCode(m *ebpf.Map, find asm.Instructions, keyLen, vLen int) asm.Instructions {
	return code(
		labelled("add", find), asm.JNE.Imm(asm.R0, 0, "have"),
		mapPtr(asm.R1, m), asm.Mov.Reg(asm.R2, asm.R9), address(asm.R3, asm.R9, keyLen+vLen),
		asm.Mov.Imm(asm.R4, int32(ebpf.UpdateNoExist)),
		asm.FnMapUpdateElem.Call(), asm.Mov.Reg(asm.R6, asm.R0),
		find, asm.JNE.Imm(asm.R0, 0, "have"),
		asm.Mov.Reg(asm.R0, asm.R6), asm.JNE.Imm(asm.R0, 0, "failed"),
		asm.Mov.Imm(asm.R0, -int32(unix.EAGAIN)), // somebody deleted it again
		asm.Return().WithSymbol("failed"),
		asm.And.Imm(asm.R7, ^7).WithSymbol("have"),
		asm.JGT.Imm(asm.R7, int32(vLen-8), "absent"),
		asm.Add.Reg(asm.R0, asm.R7), asm.AddAtomic.Mem(asm.R0, asm.R8, asm.DWord, 0),
		asm.Ja.Label("ok"),
	)
}

// run does an operation on key and says whether there was an entry.
func (a *access) run(op uint64, key []byte, off int, delta int64) (bool, error) {
	if len(key) != a.keyLen {
		return false, badSize("key", len(key), a.keyLen)
	}
	a.store(0, key)
	r, err := runHelper(a.prog, op, uint64(off), uint64(delta))
	switch {
	case err != nil:
		return false, err
	case r == ranOK:
		return true, nil
	case r == ranAbsent:
		return false, nil
	case unix.Errno(-int32(r)) == unix.ENOENT:
		return false, nil
	}
	return false, unix.Errno(-int32(r))
}

// store copies words into the area and load out of it. The kernel sees them
// in order because a system call comes between.
func (a *access) store(at int, from []byte) {
	for i := 0; i < len(from); i += 8 {
		atomic.StoreUint64(a.word(at+i), binary.NativeEndian.Uint64(from[i:]))
	}
}

func (a *access) storeWord(at int, w uint64) { atomic.StoreUint64(a.word(at), w) }

func (a *access) load(to []byte, at int) {
	for i := 0; i < len(to); i += 8 {
		binary.NativeEndian.PutUint64(to[i:], atomic.LoadUint64(a.word(at+i)))
	}
}

func (a *access) word(off int) *uint64 { return (*uint64)(unsafe.Pointer(&a.mem[off : off+8][0])) }

func (a *access) close() error {
	return errors.Join(a.prog.Close(), closeArea(a.area, a.mem))
}

func closeArea(m *ebpf.Map, mem []byte) error {
	var err error
	if mem != nil {
		err = unix.Munmap(mem)
	}
	return errors.Join(err, m.Close())
}
