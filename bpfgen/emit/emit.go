// Package emit writes the eBPF instructions of a function whose registers are
// allocated.
//
// It lays out the blocks so that the expected way falls through, folds
// constants and stack addresses into instructions, resolves jumps by its own
// offsets (cilium's would be cut to 16 bits without an error), and keeps the
// place in the script of every instruction. Instructions are those that
// Linux 5.10 knows: no signed division, no unconditional byte swap, no jumps
// of 32 bits' distance.
package emit

import (
	"fmt"

	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/regalloc"
)

// Instructions of a function whose registers are allocated: branches, jumps and their distances, exit, and the script's
// line of each.

// A Line says where the instructions from number Insn on come from, up to the next Line: from the place Pos of the
// script. Insn counts raw instructions: a 64-bit load is two.
type Line struct {
	Insn int
	Pos  ir.Pos
}

// A DistanceError says that a jump is farther than 16 bits can say.
type DistanceError struct {
	// Func is the name of the function that is too large.
	Func string
	From int // raw number of the jump
	// Distance is how far the jump goes, in raw instructions; less than 0 backwards. The kernel's patches are counted
	// with it.
	Distance int
	// Pos is the place in the script that the jump comes from.
	Pos ir.Pos
}

func (e *DistanceError) Error() string {
	return fmt.Sprintf("%s is too large: the jump at instruction %d goes %d instructions far", e.Func, e.From,
		e.Distance)
}

// Code is what a function became.
type Code struct {
	// Insns has no jumps that are still to be resolved. The first one bears the name of the function as its symbol,
	// references to maps bear the names of the maps.
	Insns asm.Instructions
	// Lines say where in the script the instructions come from.
	Lines []Line
	// Sizes has for each block, at its ID, how many instructions it became, with those of the edges that leave it. A
	// 64-bit load is one.
	Sizes []int
}

// Emit writes f with the registers of a. The error is a *DistanceError, or says which offset does not fit.
func Emit(f *ir.Func, a *regalloc.Allocation) (*Code, error) {
	e := &emitter{f: f, a: a, sizes: make([]int, f.NumBlocks())}
	chunks := layout(makeChunks(a))
	for i, c := range chunks {
		var next *chunk
		if i+1 < len(chunks) {
			next = chunks[i+1]
		}
		before := len(e.out)
		e.chunk(c, next)
		e.sizes[c.from.ID] += len(e.out) - before
	}
	e.resolve()
	if e.err != nil {
		return nil, e.err
	}
	e.out[0] = e.out[0].WithSymbol(f.Name)
	return &Code{e.out, e.lines, e.sizes}, nil
}

// A jump is an instruction whose offset is not known yet.
type jump struct {
	index, raw, grown int // of the instruction
	to                *chunk
	pos               ir.Pos
}

// emitter collects the output.
type emitter struct {
	// f is the function that is written, and a its registers.
	f *ir.Func
	a *regalloc.Allocation
	// out are the instructions so far.
	out   asm.Instructions
	raw   int // raw number of the next instruction
	grown int // the same when the kernel has patched those before: see growth
	// lines has an entry for each instruction that comes from another place than the one before.
	lines []Line
	sizes []int // see Code
	// jumps are those whose offsets resolve writes when all chunks have their places.
	jumps []jump
	pos   ir.Pos // of what is emitted now
	err   error  // the first
}

func (e *emitter) add(ins asm.Instruction) {
	if n := len(e.lines); e.pos.IsValid() && (n == 0 || e.lines[n-1].Pos != e.pos) {
		e.lines = append(e.lines, Line{e.raw, e.pos})
	}
	e.out = append(e.out, ins)
	e.raw += int(ins.Width())
	e.grown += int(ins.Width()) + growth(ins)
}

func (e *emitter) fail(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf("emit: %s: "+format, append([]any{e.f.Name}, args...)...)
	}
}

// chunk emits c; next is what follows in the layout.
func (e *emitter) chunk(c, next *chunk) {
	c.raw, c.grown = e.raw, e.grown
	for i := range c.steps {
		if p := c.posOf(i); p.IsValid() {
			e.pos = p
		}
		if i > 0 && e.apart(&c.steps[i-1], &c.steps[i]) {
			continue
		}
		e.step(&c.steps[i])
	}
	if c.pos.IsValid() {
		e.pos = c.pos
	}
	switch len(c.to) {
	case 0:
		e.exit(c)
	case 1:
		if c.to[0] != next {
			e.jump(asm.Instruction{OpCode: asm.Ja.Op(asm.ImmSource)}, c.to[0])
		}
	default:
		e.branch(c, next)
	}
}

// exit ends the program; without a result it returns 0.
func (e *emitter) exit(c *chunk) {
	if c.block.Term.X == nil {
		e.add(asm.Mov.Imm(asm.R0, 0))
	}
	e.add(asm.Return())
}

// branch emits the terminator of c so that next is reached by falling through.
func (e *emitter) branch(c, next *chunk) {
	t := &c.block.Term
	cond, then, els := t.Cond, c.to[0], c.to[1]
	if then == next {
		if neg, ok := cond.Negate(); ok {
			cond, then, els = neg, els, then
		}
	}
	code := &e.a.Code[c.block.ID]
	op := jumpOps[cond]
	ins := asm.Instruction{OpCode: op.Op(asm.ImmSource), Dst: asm.Register(code.X), Constant: t.Imm}
	switch {
	case t.Y != nil && regalloc.FoldedY(t):
		ins.Constant = t.Y.Imm
	case t.Y != nil:
		ins = asm.Instruction{OpCode: op.Op(asm.RegSource), Dst: asm.Register(code.X), Src: asm.Register(code.Y)}
	}
	e.jump(ins, then)
	if els != next {
		e.jump(asm.Instruction{OpCode: asm.Ja.Op(asm.ImmSource)}, els)
	}
}

var jumpOps = [...]asm.JumpOp{
	ir.EQ: asm.JEq, ir.NE: asm.JNE, ir.ULT: asm.JLT, ir.ULE: asm.JLE, ir.UGT: asm.JGT, ir.UGE: asm.JGE,
	ir.SLT: asm.JSLT, ir.SLE: asm.JSLE, ir.SGT: asm.JSGT, ir.SGE: asm.JSGE, ir.SET: asm.JSet,
}

func (e *emitter) jump(ins asm.Instruction, to *chunk) {
	e.jumps = append(e.jumps, jump{len(e.out), e.raw, e.grown, to, e.pos})
	e.add(ins)
}

// resolve fills in the distances of jumps.
func (e *emitter) resolve() {
	for _, j := range e.jumps {
		if far := j.to.grown - j.grown - 1; far != int(int16(far)) && e.err == nil {
			e.err = &DistanceError{e.f.Name, j.raw, far, j.pos}
		}
		e.out[j.index].Offset = int16(j.to.raw - j.raw - 1)
	}
}

// growth is by how many instructions the kernel makes ins longer at most: it
// tests divisors, and writes the code of look-ups, of bpf_loop and of some other
// helpers in place of the call (do_misc_fixups, kernel/bpf/verifier.c; the
// map_gen_lookup of maps). Jumps over it grow too, and must stay within 16 bits:
// "insn N cannot be patched due to 16-bit range".
func growth(ins asm.Instruction) int {
	op := ins.OpCode
	switch {
	case ins.IsBuiltinCall() && asm.BuiltinFunc(ins.Constant) == asm.FnLoop:
		return 24
	case ins.IsBuiltinCall():
		return 8
	case op.Class().IsALU() && (op.ALUOp() == asm.Div || op.ALUOp() == asm.Mod) && op.Source() == asm.RegSource:
		return 5
	case op.Class() == asm.LdXClass: // of the context
		return 2
	}
	return 0
}
