package infer

import (
	"runtime"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// read is the value v of a call as the new program has it in its memory. slot is what the start of the call could read
// of it. nil: the new program does not have it.
func (n *newImage) read(b *body, st *spanState, v val, slot *tree.Expr) *tree.Expr {
	arg, word := n.argument(v.expr)
	if arg == nil || !b.u.hasFields("mm_struct", "start_stack", "env_end") {
		return nil
	}
	pos := v.expr.Pos
	stack, fine := n.stack(b, pos)
	count := load(memPlace{stack, 0, tree.User, b}, types.U64, pos)
	e := *v.expr
	e.BitSize = 0 // the new program is one of 64 bits
	switch {
	case arg.IsString && arg.Name == "filename":
		end := b.rv(b.attributes().attr(b.attributes().attr(exprVal(b.task(pos)), "mm", pos), "env_end", pos), pos)
		e.Args = append([]*tree.Expr{assume(end)}, e.Args[1:]...)
		fine = all(pos, &tree.Expr{Op: tree.OpIsFault, Type: types.Boolean, Args: []*tree.Expr{slot}, Pos: pos}, fine,
			present(end, pos))
		failed := not(succeeded(b, pos), pos) // the old program goes on, and the call has read the name
		slot = &tree.Expr{Op: tree.OpCond, Type: e.Type, Args: []*tree.Expr{failed, st.readAgain(b, v, slot), slot},
			Pos: pos}
	case arg.IsStringList && arg.Name == "argv":
		given := &tree.Expr{Op: tree.OpListLen, Type: types.I64, Str: tree.User, Args: []*tree.Expr{word},
			BitSize: v.expr.BitSize, Pos: pos}
		given = st.bring(b, val{expr: given, start: st.start}).expr
		same := operation(tree.OpEq, types.Boolean, assume(count), given, pos)
		fine = all(pos, fine, present(count, pos), same)
		e.Args = append([]*tree.Expr{plus(stack, 8, pos)}, e.Args[1:]...)
	case arg.IsStringList && arg.Name == "envp":
		behind := operation(tree.OpMul, types.U64, assume(count), intExpr(8, pos), pos)
		sum := operation(tree.OpAdd, types.U64, stack, behind, pos)
		fine = all(pos, fine, present(count, pos))
		e.Args = append([]*tree.Expr{plus(sum, 16, pos)}, e.Args[1:]...)
	default:
		return nil
	}
	return &tree.Expr{Op: tree.OpCond, Type: e.Type, Args: []*tree.Expr{fine, &e, slot}, Pos: pos}
}

// argument finds the argument of the call that e reads, and its register.
func (n *newImage) argument(e *tree.Expr) (*kernel.SyscallArg, *tree.Expr) {
	if e.Op != tree.OpStr && e.Op != tree.OpStrList && e.Op != tree.OpJoin {
		return nil, nil
	}
	word := e.Args[0]
	for i := range n.args.sc.Args {
		if sameExpr(innermost(word), innermost(n.args.word(i, e.Pos))) && e.Int == 0 {
			return &n.args.sc.Args[i], word
		}
	}
	return nil, nil
}

func innermost(e *tree.Expr) *tree.Expr {
	for e.Op == tree.OpConvert {
		e = e.Args[0]
	}
	return e
}

// stack is the bottom of the new program's stack, and whether there is one, of 64-bit words.
func (n *newImage) stack(b *body, pos plan.Pos) (at, fine *tree.Expr) {
	bottom := b.rv(b.attributes().attr(b.attributes().attr(exprVal(b.task(pos)), "mm", pos), "start_stack", pos), pos)
	return assume(bottom), all(pos, succeeded(b, pos), wideProgram(pos), present(bottom, pos))
}

func succeeded(b *body, pos plan.Pos) *tree.Expr {
	ret := callResult(b, pos)
	return operation(tree.OpEq, types.Boolean, ret, intExpr(0, pos), pos)
}

// wideProgram is whether the program that runs is one of 64 bits, by the registers of its system call: the code segment
// is __USER_CS (arch/x86/include/asm/segment.h), the mode is not that of AArch32 (PSR_MODE32_BIT).
func wideProgram(pos plan.Pos) *tree.Expr {
	name, mask, want := "cs", int64(0xff), int64(0x33)
	if runtime.GOARCH == "arm64" {
		name, mask, want = "pstate", 0x10, 0
	}
	mode := register(kernel.RegisterOffsets("").Names[name], pos)
	low := operation(tree.OpAnd, types.U64, mode, intExpr(mask, pos), pos)
	return operation(tree.OpEq, types.Boolean, low, intExpr(want, pos), pos)
}

// hasFields reports whether the kernel's types have a struct with these fields.
func (u *unit) hasFields(tag string, fields ...string) bool {
	btf, err := u.facts.BTF()
	if err != nil {
		return false
	}
	id, ok := btf.Named(kernel.KindStruct, tag)
	for _, f := range fields {
		if _, err := btf.Field(id, f); !ok || err != nil {
			return false
		}
	}
	return ok
}
