package infer

import (
	"runtime"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// File, arguments and environment of execve (e.args.argv), also at the end of the call.

// read is the value v of a call as the new program has it in its memory. slot is what the start of the call could read
// of it. nil: the new program does not have it.
func (n *newImage) read(b *body, st *spanState, v val, slot *tree.Expr) *tree.Expr {
	arg, word := n.argument(v.expr)
	if arg == nil || !b.u.hasFields("mm_struct", "start_stack", "env_end") {
		return nil
	}
	switch {
	case arg.IsString && arg.Name == "filename":
		return n.file(b, st, v, slot)
	case arg.IsStringList && arg.Name == "argv":
		return n.arguments(b, st, v, word, slot)
	case arg.IsStringList && arg.Name == "envp":
		return n.environment(b, st, v, slot)
	}
	return nil
}

// file is the name of the file.
func (n *newImage) file(b *body, st *spanState, v val, slot *tree.Expr) *tree.Expr {
	pos := v.expr.Pos
	e := *v.expr
	end := b.rv(b.attributes().attr(b.attributes().attr(exprVal(b.task(pos)), "mm", pos), "env_end", pos), pos)
	e.Args = append([]*tree.Expr{assume(end)}, e.Args[1:]...)
	_, fine := n.stack(b, st, pos)
	fine = all(pos, &tree.Expr{Op: tree.OpIsFault, Type: types.Boolean, Args: []*tree.Expr{slot}, Pos: pos}, fine,
		present(end, pos))
	failed := not(n.succeeded(b, st, pos), pos) // the old program goes on, and the call has read the name
	return choice(fine, &e, choice(failed, st.readAgain(b, v, slot), slot))
}

// environment is envp.
func (n *newImage) environment(b *body, st *spanState, v val, slot *tree.Expr) *tree.Expr {
	pos := v.expr.Pos
	stack, fine := n.stack(b, st, pos)
	count := load(memPlace{stack, 0, tree.User, b}, types.U64, pos)
	behind := operation(tree.OpMul, types.U64, assume(count), intExpr(8, pos), pos)
	sum := operation(tree.OpAdd, types.U64, stack, behind, pos)
	e := *v.expr
	e.BitSize = 0 // the new program is one of 64 bits
	e.Args = append([]*tree.Expr{plus(sum, 16, pos)}, e.Args[1:]...)
	return choice(all(pos, fine, present(count, pos)), &e, slot)
}

// arguments is argv. A script's interpreter gets words in front of those of the call, and the name of the file in the
// place of the first: where not all could be read when the call began, its arguments are the last of the stack, and the
// first of them is FAULT. A call that failed has read them since, unless it failed before.
func (n *newImage) arguments(b *body, st *spanState, v val, word, slot *tree.Expr) *tree.Expr {
	pos := v.expr.Pos
	before := func(e *tree.Expr) *tree.Expr { return st.bring(b, val{expr: e, start: st.start}).expr }
	given := before(&tree.Expr{Op: tree.OpListLen, Type: types.I64, Str: tree.User,
		Args: []*tree.Expr{word, intExpr(int64(v.expr.Type.Cap), pos)}, BitSize: v.expr.BitSize, Pos: pos})
	number := operation(tree.OpAnd, types.U64, given, intExpr(tree.ListHoles-1, pos), pos)
	holes := operation(tree.OpNe, types.Boolean,
		operation(tree.OpAnd, types.U64, given, intExpr(tree.ListHoles, pos), pos), intExpr(0, pos), pos)

	stack, fine := n.stack(b, st, pos)
	count := load(memPlace{stack, 0, tree.User, b}, types.U64, pos)
	front := operation(tree.OpSub, types.U64, assume(count), number, pos)
	script := all(pos, holes, operation(tree.OpNe, types.Boolean, number, intExpr(0, pos), pos),
		operation(tree.OpLt, types.Boolean, number, assume(count), pos))
	same := operation(tree.OpEq, types.Boolean, assume(count), number, pos)
	fine = all(pos, fine, present(count, pos), operation(tree.OpLOr, types.Boolean, same, script, pos))
	at := operation(tree.OpAdd, types.U64, plus(stack, 8, pos),
		operation(tree.OpMul, types.U64, front, intExpr(8, pos), pos), pos)

	hole := operation(tree.OpNe, types.Boolean, assume(count), number, pos)
	e := *v.expr
	if e.BitSize == 0 { // else the new program alone is one of 64 bits
		again := all(pos, not(n.succeeded(b, st, pos), pos), holes)
		fine, at = operation(tree.OpLOr, types.Boolean, again, fine, pos), choice(again, before(word), at)
		hole = all(pos, not(again, pos), hole)
	}
	e.BitSize = 0
	e.Args = append(append([]*tree.Expr{at}, e.Args[1:]...), hole)
	return choice(fine, &e, slot)
}

// choice is x where c is true, else y.
func choice(c, x, y *tree.Expr) *tree.Expr {
	return &tree.Expr{Op: tree.OpCond, Type: x.Type, Args: []*tree.Expr{c, x, y}, Pos: c.Pos}
}

// argument finds the argument of the call that e reads, and its register.
func (n *newImage) argument(e *tree.Expr) (*kernel.SyscallArg, *tree.Expr) {
	if e.Op != tree.OpStr && e.Op != tree.OpStrList && e.Op != tree.OpJoin {
		return nil, nil
	}
	word := e.Args[0]
	for i := range n.args.sc.Args() {
		if sameExpr(innermost(word), innermost(n.args.word(i, e.Pos))) && e.Int == 0 {
			return &n.args.sc.Args()[i], word
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
func (n *newImage) stack(b *body, st *spanState, pos plan.Pos) (at, fine *tree.Expr) {
	bottom := b.rv(b.attributes().attr(b.attributes().attr(exprVal(b.task(pos)), "mm", pos), "start_stack", pos), pos)
	return assume(bottom), all(pos, n.succeeded(b, st, pos), wideProgram(pos), present(bottom, pos))
}

// executeCheck is AT_EXECVE_CHECK (include/uapi/linux/fcntl.h): the call only asks, and the old program goes on.
const executeCheck = 0x10000

// succeeded is whether the call has started a program.
func (n *newImage) succeeded(b *body, st *spanState, pos plan.Pos) *tree.Expr {
	started := operation(tree.OpEq, types.Boolean, callResult(b, pos), intExpr(0, pos), pos)
	for i, arg := range n.args.sc.Args() {
		if arg.Name == "flags" {
			flags := st.bring(b, val{expr: n.args.word(i, pos), start: st.start}).expr
			asks := operation(tree.OpAnd, types.U64, flags, intExpr(executeCheck, pos), pos)
			started = all(pos, started, operation(tree.OpEq, types.Boolean, asks, intExpr(0, pos), pos))
		}
	}
	return started
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
