package state

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"

	"github.com/startrace/startrace/internal/bpf"
)

// A table read at once by one run of a program (bpf_for_each_map_elem).

// snapshotMax is the size of a copy above which a table is read piece by piece.
const snapshotMax = 16 << 20

// A snapshot reads a table by one run of a program that copies all entries
// into a mapped array, as many as the table can have
// (bpf_for_each_map_elem, 5.13), the fastest way to read it (BenchmarkEach).
type snapshot struct {
	prog         *ebpf.Program
	area         *ebpf.Map
	mem          []byte
	keyLen, size int // of a key; of a key and a value
}

// snapshotSize is the size of the copy of a map, in bytes.
func snapshotSize(m *ebpf.Map) int64 {
	return int64(m.MaxEntries()) * int64(m.KeySize()+m.ValueSize())
}

func newSnapshot(m *ebpf.Map) (_ *snapshot, err error) {
	s := &snapshot{keyLen: int(m.KeySize()), size: int(m.KeySize() + m.ValueSize())}
	if s.area, s.mem, err = newArea(int(m.MaxEntries()), s.size); err != nil {
		return nil, fmt.Errorf("memory for a copy: %w", err)
	}
	s.prog, err = bpf.Load(&bpf.Program{
		Name: "snapshot", Type: ebpf.RawTracepoint, Instructions: snapshotCode(m, s.area),
	}, nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("program that copies a table: %w", err), s.close())
	}
	return s, nil
}

// snapshotCode is the program and its callback, called with the map, a key,
// a value and the counter. It returns ranOK plus the number of entries copied.
func snapshotCode(m, area *ebpf.Map) asm.Instructions {
	callback := asm.Instruction{
		OpCode: asm.LoadImmOp(asm.DWord), Dst: asm.R2, Src: asm.PseudoFunc, Constant: -1,
	}.WithReference("copy")
	keyLen, vLen := int(m.KeySize()), int(m.ValueSize())
	return code(
		described("main", btf.GlobalFunc, asm.Mov.Imm(asm.R1, 0)),
		asm.StoreMem(asm.RFP, -8, asm.R1, asm.DWord),
		mapPtr(asm.R1, m), callback, address(asm.R3, asm.RFP, -8), asm.Mov.Imm(asm.R4, 0),
		asm.FnForEachMapElem.Call(),
		asm.LoadMem(asm.R0, asm.RFP, -8, asm.DWord), asm.Add.Imm(asm.R0, ranOK), asm.Return(),

		described("copy", btf.StaticFunc, asm.Mov.Reg(asm.R6, asm.R2)),
		asm.Mov.Reg(asm.R7, asm.R3), asm.Mov.Reg(asm.R8, asm.R4),
		asm.LoadMem(asm.R9, asm.R8, 0, asm.DWord),
		asm.StoreMem(asm.RFP, -4, asm.R9, asm.Word),
		mapPtr(asm.R1, area), address(asm.R2, asm.RFP, -4), asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "full"),
		copyWords(asm.R0, 0, asm.R6, 0, keyLen),
		copyWords(asm.R0, keyLen, asm.R7, 0, vLen),
		asm.Add.Imm(asm.R9, 1), asm.StoreMem(asm.R8, 0, asm.R9, asm.DWord),
		give("next", 0), // go on
		give("full", 1), // stop: entries that moved came twice
	)
}

// described begins a function and gives it the type that callbacks, and every
// function beside them, must have.
func described(name string, linkage btf.FuncLinkage, ins asm.Instruction) asm.Instruction {
	word := &btf.Int{Name: "u64", Size: 8}
	fn := &btf.Func{Name: name, Linkage: linkage, Type: &btf.FuncProto{Return: word}}
	return btf.WithFuncMetadata(ins.WithSymbol(name), fn)
}

func (s *snapshot) each(f func(key, val []byte) bool) error {
	r, err := runHelper(s.prog)
	if err != nil {
		return err
	}
	n := int(r) - ranOK
	if n < 0 || n*s.size > len(s.mem) {
		return fmt.Errorf("the copy of a table has %d entries, more than the table", n)
	}
	for at := 0; at < n*s.size; at += s.size {
		val := at + s.keyLen
		if !f(s.mem[at:val:val], s.mem[val:at+s.size:at+s.size]) {
			break
		}
	}
	return nil
}

func (s *snapshot) close() error {
	return errors.Join(s.prog.Close(), closeArea(s.area, s.mem))
}
