package state

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/internal/bpf"
	"github.com/startrace/startrace/starlark/value"
)

// A program that does x op= v on a word of an entry.

// An operator is a program that changes a word of an entry as x op= v does. Between reading and writing the word there
// are some nanoseconds, so that it gets its turn also where other programs change the entry all the time; of two system
// calls that cannot be said. It needs compare-and-exchange, which Linux has since 5.12.
type operator struct{ prog *ebpf.Program }

const (
	// operatorTries are the rounds of one run.
	operatorTries = 16
	// The other results of the program.
	ranBeyond = 3 // the word is out of the range for which the result fits
	ranLate   = 4 // in each round another program was faster
)

func newOperator(m, area *ebpf.Map) (*operator, error) {
	prog, err := bpf.Load(&bpf.Program{Name: "operate", Type: ebpf.RawTracepoint, Instructions: operatorCode(m, area)},
		nil)
	if err != nil {
		return nil, fmt.Errorf("prepare the change of a word: %w", err)
	}
	return &operator{prog}, nil
}

// operatorCode is the program: its arguments are an offset in the value, the operator, v, and the lowest and the
// highest word, as signed ones, that it may change.
func operatorCode(m, area *ebpf.Map) asm.Instructions {
	argument := func(dst asm.Register, n int16) asm.Instruction { return asm.LoadMem(dst, asm.R6, 8*n, asm.DWord) }
	out := code(
		asm.Mov.Reg(asm.R6, asm.R1),
		argument(asm.R7, 0), argument(asm.R8, 2), mapMem(asm.R9, area),
		mapPtr(asm.R1, m), asm.Mov.Reg(asm.R2, asm.R9), asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "absent"),
		asm.And.Imm(asm.R7, ^7), asm.JGT.Imm(asm.R7, int32(m.ValueSize())-8, "absent"),
		asm.Mov.Reg(asm.R1, asm.R0), asm.Add.Reg(asm.R1, asm.R7),
		argument(asm.R4, 3), argument(asm.R5, 4), argument(asm.R9, 1),
	)
	for n := range operatorTries {
		label := func(name string) string { return fmt.Sprint(name, n) }
		out = append(out, code(
			asm.LoadMem(asm.R0, asm.R1, 0, asm.DWord),
			asm.JSLT.Reg(asm.R0, asm.R4, "beyond"), asm.JSGT.Reg(asm.R0, asm.R5, "beyond"),
			asm.Mov.Reg(asm.R2, asm.R0), asm.Mov.Reg(asm.R3, asm.R0),
			asm.JEq.Imm(asm.R9, int32(value.Times), label("times")),
			asm.JEq.Imm(asm.R9, int32(value.BitsAnd), label("and")),
			asm.JEq.Imm(asm.R9, int32(value.BitsOr), label("or")),
			asm.Xor.Reg(asm.R2, asm.R8), asm.Ja.Label(label("set")),
			asm.Mul.Reg(asm.R2, asm.R8).WithSymbol(label("times")), asm.Ja.Label(label("set")),
			asm.And.Reg(asm.R2, asm.R8).WithSymbol(label("and")), asm.Ja.Label(label("set")),
			asm.Or.Reg(asm.R2, asm.R8).WithSymbol(label("or")),
			compareExchange(asm.R1, asm.R2).WithSymbol(label("set")),
			asm.JEq.Reg(asm.R0, asm.R3, "ok"),
		)...)
	}
	return append(out, code(give("late", ranLate), give("ok", ranOK), give("beyond", ranBeyond),
		give("absent", ranAbsent))...)
}

func (o *operator) close() error { return o.prog.Close() }
