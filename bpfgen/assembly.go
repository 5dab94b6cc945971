package bpfgen

import (
	"slices"
	"strconv"

	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"

	"github.com/startrace/startrace/bpfgen/cost"
	"github.com/startrace/startrace/bpfgen/emit"
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/regalloc"
	"github.com/startrace/startrace/bpfgen/ssagen"
)

// The functions of a program put behind each other, their types for the kernel, and the check of what their frames take
// of the 512 bytes of stack.

// An assembly is the code of a program: its own, and behind it that of the
// subprograms that it calls.
type assembly struct {
	insns  asm.Instructions
	lines  []Line
	raw    int // instructions, 64-bit loads counted twice
	frames []assembled
}

// An assembled is a function of a program, and what it takes of the stack.
type assembled struct {
	f     *ir.Func
	regs  *regalloc.Allocation
	insns int
	sizes []int // of its blocks: emit.Code.Sizes
}

// add appends a function.
func (a *assembly) add(f *ir.Func) error {
	regs, err := regalloc.Allocate(f)
	if err != nil {
		return err
	}
	code, err := emit.Emit(f, regs)
	if err != nil {
		return err
	}
	for _, l := range code.Lines {
		a.lines = append(a.lines, Line{a.raw + l.Insn, l.Pos})
	}
	size := int(code.Insns.Size()) / asm.InstructionSize
	a.insns, a.raw = append(a.insns, code.Insns...), a.raw+size
	a.frames = append(a.frames, assembled{f, regs, size, code.Sizes})
	return nil
}

// alloc is the text of what the functions keep in which register.
func (a *assembly) alloc() (text string) {
	for _, fr := range a.frames {
		text += fr.regs.String()
	}
	return text
}

// describe gives the functions types, which the kernel wants of all of them where it is to call one itself, or to
// verify one by itself.
func (a *assembly) describe() {
	global := a.global()
	if len(global) == 0 && !slices.ContainsFunc(a.insns, func(i asm.Instruction) bool {
		return i.IsFunctionReference() && i.OpCode.IsDWordLoad()
	}) {
		return
	}
	number := &btf.Int{Name: "long", Size: 8, Encoding: btf.Signed}
	typ := &btf.FuncProto{Return: number, Params: []btf.FuncParam{{Name: "a", Type: number}, {Name: "b", Type: number}}}
	n := 0
	for i := range a.insns {
		if name := a.insns[i].Symbol(); name != "" {
			f := &btf.Func{Name: "f" + strconv.Itoa(n), Type: typ,
				Linkage: btf.StaticFunc} // a name of a script need not be one of C
			if slices.Contains(global, name) {
				f.Linkage = btf.GlobalFunc
			}
			a.insns[i] = btf.WithFuncMetadata(a.insns[i], f)
			n++
		}
	}
}

// global are the names of the functions that the verifier looks at by themselves.
func (a *assembly) global() (names []string) {
	for _, fr := range a.frames {
		if fr.f.Global {
			names = append(names, fr.f.Name)
		}
	}
	return names
}

// frameUnit is what the kernel rounds frames up to where functions call each
// other, in versions before 6.12 (check_max_stack_depth, kernel/bpf/verifier.c).
const frameUnit = 32

// checkStack adds up the frames of functions that are open together.
func (a *assembly) checkStack() error {
	if len(a.frames) == 1 {
		return nil // which regalloc has looked at
	}
	if total := a.depth(a.frames[0], map[*ir.Func]int{}); total > regalloc.MaxStack {
		return &regalloc.StackError{Func: a.frames[0].f.Name, Total: total}
	}
	return nil
}

// depth is the stack of a function and of what it calls; known are those that
// were asked for before.
func (a *assembly) depth(fr assembled, known map[*ir.Func]int) int {
	if n, ok := known[fr.f]; ok {
		return n
	}
	deepest := 0
	for _, name := range calledBy(fr.f) {
		i := slices.IndexFunc(a.frames, func(o assembled) bool { return o.f.Name == name })
		deepest = max(deepest, a.depth(a.frames[i], known))
	}
	known[fr.f] = (max(fr.regs.Stack, 1)+frameUnit-1)&^(frameUnit-1) + deepest
	return known[fr.f]
}

// calledBy gives the names of the subprograms that f calls.
func calledBy(f *ir.Func) (names []string) {
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if (v.Op == ir.OpCall || v.Op == ir.OpFunc) && v.Sym != "" && !slices.Contains(names, v.Sym) {
				names = append(names, v.Sym)
			}
		}
	}
	return names
}

// called leaves the functions that the first one still calls when the passes
// are done: the kernel refuses code that is not reached.
func called(funcs []*ir.Func) []*ir.Func {
	out := funcs[:1:1]
	for i := 0; i < len(out); i++ {
		for _, name := range calledBy(out[i]) {
			j := slices.IndexFunc(funcs, func(f *ir.Func) bool { return f.Name == name })
			if !slices.Contains(out, funcs[j]) {
				out = append(out, funcs[j])
			}
		}
	}
	return out
}

// cost is what one run of the program costs at most.
func (a *assembly) cost(calls []ssagen.Call) (cost.Cost, error) {
	var funcs []cost.Func
	for _, fr := range a.frames {
		funcs = append(funcs, cost.Func{IR: fr.f, Size: fr.sizes})
	}
	return cost.Of(funcs, func(name string) (int64, bool) {
		i := slices.IndexFunc(calls, func(c ssagen.Call) bool { return c.Sub == name && c.Rounds > 0 })
		if i < 0 {
			return 0, false
		}
		return calls[i].Rounds, true
	})
}

// A Call is what became of the calls of a function of the script.
type Call struct {
	ssagen.Call
	// Insns are the instructions of the subprogram; 0 where there is none.
	Insns int
}

// calls adds the sizes of subprograms.
func (a *assembly) calls(list []ssagen.Call) (out []Call) {
	for _, c := range list {
		call := Call{Call: c}
		for _, fr := range a.frames[1:] {
			if fr.f.Name == c.Sub {
				call.Insns = fr.insns
			}
		}
		out = append(out, call)
	}
	return out
}
