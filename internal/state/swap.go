package state

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/internal/bpf"
)

// A program that sets a word by compare and exchange.

// A swapper is a program that sets a word of an entry if it holds what is
// expected: compare-and-exchange, which Linux has since 5.12. It works on the
// area of an access, in which the expected word stands where a value would.
type swapper struct{ prog *ebpf.Program }

func newSwapper(m, area *ebpf.Map) (*swapper, error) {
	prog, err := bpf.Load(&bpf.Program{Name: "swap", Type: ebpf.RawTracepoint, Instructions: swapCode(m, area)}, nil)
	if err != nil {
		return nil, fmt.Errorf("prepare the exchange of a word: %w", err)
	}
	return &swapper{prog}, nil
}

// swapCode is the program: its arguments are an offset in the value and the new
// word.
func swapCode(m, area *ebpf.Map) asm.Instructions {
	keyLen, vLen := int16(m.KeySize()), int32(m.ValueSize())
	return code(
		asm.LoadMem(asm.R7, asm.R1, 0, asm.DWord),
		asm.LoadMem(asm.R8, asm.R1, 8, asm.DWord),
		mapMem(asm.R9, area),
		mapPtr(asm.R1, m), asm.Mov.Reg(asm.R2, asm.R9), asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "absent"),
		asm.And.Imm(asm.R7, ^7), asm.JGT.Imm(asm.R7, vLen-8, "absent"),
		asm.Mov.Reg(asm.R1, asm.R0), asm.Add.Reg(asm.R1, asm.R7),
		asm.LoadMem(asm.R6, asm.R9, keyLen, asm.DWord), asm.Mov.Reg(asm.R0, asm.R6),
		compareExchange(asm.R1, asm.R8),
		asm.JNE.Reg(asm.R0, asm.R6, "absent"),
		give("ok", ranOK),
		give("absent", ranAbsent),
	)
}

// compareExchange sets the word at dst to src if it is R0. cilium/ebpf v0.22.0
// encodes the immediate that it finds before it sets it from the opcode, which
// makes every operation an addition: set it here.
func compareExchange(dst, src asm.Register) asm.Instruction {
	ins := asm.CmpXchg.Mem(dst, src, asm.DWord, 0)
	ins.Constant = int64(asm.CmpXchg >> 8)
	return ins
}

func (s *swapper) run(a *access, key []byte, off int, old, next uint64) (bool, error) {
	if len(key) != a.keyLen {
		return false, badSize("key", len(key), a.keyLen)
	}
	a.store(0, key)
	a.storeWord(a.keyLen, old)
	r, err := runHelper(s.prog, uint64(off), next)
	return r == ranOK, err
}

func (s *swapper) close() error { return s.prog.Close() }
