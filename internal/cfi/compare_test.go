package cfi_test

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/frame"

	"github.com/startrace/startrace/internal/cfi"
	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/wire"
)

// comparison counts what was compared of one file.
type comparison struct {
	t           *testing.T
	file        *elffile.File
	changed     []elffile.Function // of Go's runtime: they change stacks
	rows        []cfi.Row
	compared    int
	none, wrong int
}

func compare(t *testing.T, f *elffile.File) *comparison {
	t.Helper()
	rows, err := cfi.Rows(f)
	if err != nil {
		t.Fatal(err)
	}
	c := &comparison{t: t, file: f, rows: rows}
	if golang, ok := f.Golang(); ok {
		c.changed = golang.Named(cfi.Changes())
		if len(c.changed) < 6 {
			t.Errorf("only %+v are known to change stacks", c.changed)
		}
	}
	return c
}

// at compares the rule of an address with what others say of it.
func (c *comparison) at(addr uint64, want said) {
	c.t.Helper()
	if want.pc == "u" && c.file.Machine == elf.EM_X86_64 { // undefined
		want = said{pc: "stop"}
	}
	rule := ruleAt(c.rows, addr)
	got := say(c.file.Machine, rule)
	c.compared++
	if got == (said{}) {
		c.none++
	} else if c.changed != nil {
		if c.changes(addr) {
			return
		}
		got.fp = "u" // Go's linker does not tell where it is, nor that nobody calls a function
		got.cfa = strings.TrimPrefix(got.cfa, "injected at ")
	}
	if want.cfa == expression && got != (said{}) { // readelf does not say which
		want.cfa = got.cfa
	}
	if slices.Contains(cpus[c.file.Machine].words, got.pc) && (want.pc == "other" || // delve does not say which
		strings.HasSuffix(want.pc, " ("+got.pc+")")) {
		want.pc = got.pc
	}
	if got == want || got == (said{}) && !sayable(c.file.Machine, want) ||
		got.pc == "stop" && want.pc == "u" || // of arm64, undefined or in its register
		byKeptRegister(got, want) ||
		rule == wire.UnwindSignal && c.returnsFromSignal(addr) {
		return
	}
	if c.wrong++; c.wrong < 10 {
		c.t.Errorf("%#x: got %+v, want %+v", addr, got, want)
	}
}

// byKeptRegister: the frame is counted from a register that the function saves which is called there.
func byKeptRegister(got, want said) bool {
	register, _, _ := strings.Cut(want.cfa, "+")
	return slices.Contains([]string{"rbx", "r12", "r13", "r14", "r15"}, register) &&
		strings.HasPrefix(got.cfa, "*(rsp-") && got.fp == want.fp && got.pc == want.pc
}

// changes: the code at an address is of a function that changes stacks.
func (c *comparison) changes(addr uint64) bool {
	holds := func(f elffile.Function) bool { return f.Addr <= addr && addr < f.Addr+f.Size }
	return slices.ContainsFunc(c.changed, holds)
}

// returnsFromSignal: the code at an address is that which handlers return to, and of which files may not tell.
func (c *comparison) returnsFromSignal(addr uint64) bool {
	code, err := c.file.Code(addr-8, 24)
	return err == nil && (bytes.Contains(code, []byte("\x0f\x00\x00\x00\x0f\x05")) ||
		bytes.Contains(code, []byte("\x68\x11\x80\xd2\x01\x00\x00\xd4")))
}

// outside checks the code between functions: it has no rule, or is known without.
func (c *comparison) outside(functions []block) {
	c.t.Helper()
	end := ^uint64(0) >> 1
	byPlace := func(a, b block) int { return cmp.Compare(a.begin, b.begin) }
	for _, f := range slices.SortedFunc(slices.Values(functions), byPlace) {
		if f.begin > end+16 && !c.known(end) {
			c.t.Errorf("%#x, behind a function: got %+v, want none", end, say(c.file.Machine, ruleAt(c.rows, end)))
		}
		end = f.end
	}
	if !c.known(end) {
		c.t.Errorf("%#x, behind all functions: got %+v, want none", end, say(c.file.Machine, ruleAt(c.rows, end)))
	}
}

// known: the code at an address has no rule, or one that the file does not tell, or padding follows.
func (c *comparison) known(addr uint64) bool {
	rule := ruleAt(c.rows, addr)
	return rule == wire.UnwindNone || c.next(addr)-addr <= 16 || addr == c.file.Entry() && rule == wire.UnwindStop ||
		rule == wire.UnwindSignal && c.returnsFromSignal(addr) || c.startup(addr)
}

// startup: the code at an address is of the functions of the compiler's own with which libraries begin and end.
func (c *comparison) startup(addr uint64) bool {
	if c.file.Machine != elf.EM_X86_64 || say(c.file.Machine, ruleAt(c.rows, addr)).cfa != "rsp+8" {
		return false
	}
	pushed := say(c.file.Machine, ruleAt(c.rows, c.next(addr)))
	framed := say(c.file.Machine, ruleAt(c.rows, c.next(c.next(addr))))
	return pushed == said{"rsp+16", "c-16", "c-8"} && framed == said{"rbp+16", "c-16", "c-8"}
}

// next is where the row behind an address begins.
func (c *comparison) next(addr uint64) uint64 {
	i := slices.IndexFunc(c.rows, func(r cfi.Row) bool { return r.Addr > addr })
	if i < 0 {
		return ^uint64(0)
	}
	return c.rows[i].Addr
}

// enough reports what was compared, and that it was most of the code.
func (c *comparison) enough() {
	c.t.Helper()
	c.t.Logf("%d rows; %d addresses compared, %d of them without a rule, %d wrong", len(c.rows), c.compared, c.none,
		c.wrong)
	if c.compared == 0 || c.none*20 > c.compared {
		c.t.Error("too few were compared, or have a rule")
	}
}

// TestCompare compares the rows of many programs with what readelf and the debugger's package make of them.
func TestCompare(t *testing.T) {
	everyProgram(t, func(t *testing.T, f *elffile.File) {
		t.Run("readelf", func(t *testing.T) { compareReadelf(t, f) })
		t.Run("delve", func(t *testing.T) { compareDelve(t, f) })
	})
}

// compareReadelf compares each row that readelf makes of a file, at its first and its last byte.
func compareReadelf(t *testing.T, f *elffile.File) {
	c := compare(t, f)
	functions := readelf(t, f.Path, f.Machine)
	for _, b := range functions {
		for i, l := range b.lines {
			end := b.end
			if i+1 < len(b.lines) {
				end = b.lines[i+1].addr
			}
			c.at(l.addr, l.said)
			c.at(end-1, l.said)
		}
	}
	c.outside(functions)
	c.enough()
}

// compareDelve compares addresses by chance with what the debugger's package says, by which internal/callframe looks up
// single ones.
func compareDelve(t *testing.T, f *elffile.File) {
	c := compare(t, f)
	functions := append(parsed(t, f, ".eh_frame"), parsed(t, f, ".debug_frame")...)
	functions = frame.FrameDescriptionEntries{}.Append(functions)
	r := rand.New(rand.NewPCG(1, uint64(len(functions))))
	for range 10_000 {
		fn := functions[r.IntN(len(functions))]
		if fn.CIE.Version == 4 { // it passes by what only these have, and takes what follows for something else
			t.Skip("needs call frame information of versions 1 to 3: delve reads no other")
		}
		addr := fn.Begin() + r.Uint64N(fn.End()-fn.Begin())
		if context, err := fn.EstablishFrame(addr); err == nil { // it does not know all instructions
			c.at(addr, saidByDelve(f.Machine, context))
		}
	}
	c.enough()
}

func parsed(t *testing.T, f *elffile.File, name string) frame.FrameDescriptionEntries {
	t.Helper()
	s, ok, err := f.Section(name)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return nil
	}
	base := s.Addr
	if name == ".debug_frame" {
		base = 0
	}
	list, err := frame.Parse(s.Data, binary.LittleEndian, 0, 8, base)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// The names of registers by their numbers in DWARF.
var (
	dwarfAMD64 = strings.Fields("rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15")
	dwarfARM64 = strings.Fields("x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 x16 x17 x18 x19 x20 x21 x22 " +
		"x23 x24 x25 x26 x27 x28 x29 x30 sp")
)

func saidByDelve(machine elf.Machine, c *frame.FrameContext) said {
	fp, names := uint64(6), dwarfAMD64
	if machine == elf.EM_AARCH64 {
		fp, names = 29, dwarfARM64
	}
	out := said{cfa: expression, fp: place(c.Regs[fp]), pc: "elsewhere"}
	if c.RetAddrReg == 16 || c.RetAddrReg == 30 {
		out.pc = place(c.Regs[c.RetAddrReg])
	}
	if c.CFA.Rule == frame.RuleCFA {
		out.cfa = fmt.Sprintf("%s%+d", names[c.CFA.Reg], c.CFA.Offset)
	}
	return out
}

func place(r frame.DWRule) string {
	switch r.Rule {
	case frame.RuleUndefined, frame.RuleSameVal: // the first is also of registers that nothing is said of
		return "u"
	case frame.RuleOffset:
		return fmt.Sprintf("c%+d", r.Offset)
	case frame.RuleExpression:
		return expression
	}
	return "other"
}
