package infer

import (
	"runtime"
	"slices"
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// A call of the kernel's 32-bit interface (int 0x80, AArch32) has a number of another table and other registers. The
// kernel marks the thread while it is in one: TS_COMPAT in thread_info.status (arch/x86/include/asm/thread_info.h); on
// arm64 a 32-bit program's threads have TIF_32BIT in thread_info.flags (arch/arm64/include/asm/thread_info.h).
var compatMarks = map[string]struct {
	field string
	mask  int64
}{"amd64": {"status", 0x0002}, "arm64": {"flags", 1 << 22}}

// compatMark is where the mark is; nil where the kernel's types do not tell it.
func (u *unit) compatMark() *tree.CompatMark {
	mark, ok := compatMarks[runtime.GOARCH]
	btf, err := u.facts.BTF()
	if !ok || err != nil {
		return nil
	}
	at, err := offset(btf, "task_struct", "thread_info", mark.field)
	if err != nil {
		return nil
	}
	return &tree.CompatMark{Offset: int64(at), Mask: mark.mask}
}

// knownCalls leaves out the calls of the 32-bit interface where they cannot be told from others, and those of x32 where
// the kernel has none: there they fail as the native ones that they are called after (ENOSYS).
func (u finder) knownCalls(list []kernel.Syscall) []kernel.Syscall {
	tr := u.res.Tree
	if tr.Compat == nil {
		tr.Compat = u.compatMark()
	}
	if btf, err := u.facts.BTF(); err == nil {
		_, tr.X32 = btf.Named(kernel.KindFunc, "__x64_compat_sys_execve")
	}
	return slices.DeleteFunc(list, func(sc kernel.Syscall) bool {
		return sc.Entry == kernel.EntryCompat && tr.Compat == nil || sc.Entry == kernel.EntryX32 && !tr.X32
	})
}

// isCompat is whether the thread is in a call of the 32-bit interface; nil where that cannot be known.
func (b memory) isCompat(pos plan.Pos) *tree.Expr {
	mark := b.u.compatMark()
	if mark == nil {
		return nil
	}
	word := assume(load(place{b.task(pos), mark.Offset, tree.Kernel, b.body}, types.U32, pos))
	bit := operation(tree.OpAnd, types.U32, word, intExpr(mark.Mask, pos), pos)
	return operation(tree.OpNe, types.Boolean, bit, intExpr(0, pos), pos)
}

// rawNumber is the number of a system call as the tracepoints of all calls have it, as startrace's own: that of a call
// of the 32-bit interface has kernel.CompatBase added, so that it has a name.
func (b memory) rawNumber(nr *tree.Expr, pos plan.Pos) *tree.Expr {
	is := b.isCompat(pos)
	if is == nil {
		return nr
	}
	is = logic(tree.OpLAnd, operation(tree.OpGe, types.Boolean, nr, intExpr(0, pos), pos), is, pos)
	own := operation(tree.OpAdd, types.I64, nr, intExpr(kernel.CompatBase, pos), pos)
	if runtime.GOARCH == "arm64" {
		base := int64(kernel.CompatExtras)
		extra := operation(tree.OpGe, types.Boolean, nr, intExpr(base, pos), pos)
		shift := intExpr(kernel.CompatBase+kernel.TableSize-kernel.Extras-base, pos)
		own = conditional(extra, operation(tree.OpAdd, types.I64, nr, shift, pos), own, pos)
	}
	return conditional(is, own, convert(nr, types.I64), pos)
}

// nameNumber is the number that stands for the name of the system call with the number e.
func nameNumber(e *tree.Expr) *tree.Expr {
	return &tree.Expr{Op: tree.OpSyscallName, Type: e.Type, Args: []*tree.Expr{e}, Pos: e.Pos}
}

// result is the value that a call gives to the program: on arm64 one of 32 bits to a program of 32 bits, of which the
// kernel takes the upper half for a sign.
func (a *syscallArgs) result(ret *tree.Expr, pos plan.Pos) *tree.Expr {
	if runtime.GOARCH != "arm64" {
		return ret
	}
	a.note(askInterface)
	if a.sc.Entry != kernel.EntryCompat {
		return ret
	}
	low := convert(ret, types.U32)
	failed := operation(tree.OpGe, types.Boolean, low, intExpr(1<<32-4095, pos), pos)
	return conditional(failed, convert(convert(ret, types.S32), types.I64), convert(low, types.I64), pos)
}

// unsignedInt is the call of x86 that gives an int without its sign: -ENOSYS as 4294967258, in both interfaces
// (arch/x86/kernel/ldt.c). Programs take it for an int, as it is declared.
const unsignedInt = "modify_ldt"

// signed is the result of the calls of w, that of an int without its sign made one.
func (w *syscallWalk) signed(ret *tree.Expr, pos plan.Pos) *tree.Expr {
	var is *tree.Expr
	for _, sc := range w.of.list {
		if sc.Name != unsignedInt {
			continue
		}
		this := operation(tree.OpEq, types.Boolean, syscallNr(pos), intExpr(int64(sc.Nr), pos), pos)
		if is == nil {
			is = this
		} else {
			is = logic(tree.OpLOr, is, this, pos)
		}
	}
	if is == nil {
		return ret
	}
	return conditional(is, convert(convert(ret, types.S32), types.I64), ret, pos)
}

// askInterface is the question of which interface a call is.
const askInterface = "interface"

// argRegister is the register with the number i among those of the call's arguments.
func argRegister(sc *kernel.Syscall, i int, pos plan.Pos) *tree.Expr {
	regs := kernel.RegisterOffsets("").SyscallArgs
	if sc.Entry == kernel.EntryCompat {
		regs = kernel.RegisterOffsets("").CompatArgs
	}
	return register(regs[i], pos)
}

// word is argument i as it is in the registers.
func (a *syscallArgs) word(i int, pos plan.Pos) *tree.Expr {
	at := a.sc.Place(i)
	switch {
	case a.sc.Entry == kernel.EntryNative:
		return argRegister(a.sc, i, pos)
	case at.Register < 0:
		return convert(intExpr(0, pos), types.U64)
	case !at.Wide && !at.Half:
		return argRegister(a.sc, at.Register, pos)
	}
	low := convert(convert(argRegister(a.sc, at.Register, pos), types.IntOf(32, a.sc.Args[i].Signed && at.Half)),
		types.U64)
	switch {
	case at.Shift > 0:
		return operation(tree.OpShl, types.U64, low, intExpr(int64(at.Shift), pos), pos)
	case at.Wide:
		high := operation(tree.OpShl, types.U64, convert(argRegister(a.sc, at.Register+1, pos), types.U64),
			intExpr(32, pos), pos)
		return operation(tree.OpOr, types.U64, low, high, pos)
	}
	return low
}

// narrowField is a field of a struct in the memory of a program of 32 bits: FAULT where the kernel's types do not have
// it.
func (b memory) narrowField(p *tree.Expr, name string, pos plan.Pos) val {
	if p.Type.BTF != 0 {
		if _, err := b.u.btf(pos).Field(p.Type.BTF, name); err == nil {
			return b.structField(&structObj{place{p, 0, tree.User, b.body}, p.Type.BTF}, name, pos)
		}
	}
	nowhere := convert(intExpr(0, pos), types.U64)
	return exprVal(load(place{nowhere, 0, tree.User, b.body}, types.I64, pos))
}

// narrowPointer is a pointer in a struct of the kernel's 32-bit interface, which the kernel's types have as a number:
// compat_uptr_t. To what it points says the struct of 64 bits of the same name: msg_iov of struct compat_msghdr is a
// struct iovec * in struct user_msghdr, so it points to a struct compat_iovec. ok is false of other fields.
func (b memory) narrowPointer(of kernel.TypeID, name string, field kernel.TypeID, at place,
	pos plan.Pos) (v val, ok bool) {
	btf := b.u.btf(pos)
	if t, err := btf.Type(field); err != nil || t.Kind != kernel.KindTypedef || t.Name != "compat_uptr_t" {
		return val{}, false
	}
	word := load(at, types.U32, pos)
	to := b.wideElem(of, name, pos)
	switch t, err := btf.Type(btf.Skip(to)); {
	case err == nil && b.isChar(to, pos):
		return exprVal(b.cstring(place{word, 0, tree.User, b.body}, b.u.strMax+1, 0, pos)), true
	case err == nil && b.isCharPtr(to, pos):
		list := b.stringList(place{word, 0, tree.User, b.body}, pos)
		list.BitSize = 32
		return exprVal(list), true
	default:
		p := types.Type{Kind: types.Ptr, Narrow: true, MayFault: true}
		if err == nil && t.Kind == kernel.KindStruct {
			p.BTF, _ = btf.Named(kernel.KindStruct, "compat_"+t.Name)
		}
		return exprVal(&tree.Expr{Op: tree.OpConvert, Type: p, Args: []*tree.Expr{word}, Pos: pos}), true
	}
}

// wideElem is to what a field points in the struct of programs of 64 bits; 0 where the kernel's types do not tell it.
func (b memory) wideElem(narrow kernel.TypeID, name string, pos plan.Pos) kernel.TypeID {
	btf := b.u.btf(pos)
	t, err := btf.Type(btf.Skip(narrow))
	if err != nil {
		return 0
	}
	tag := strings.TrimPrefix(t.Name, "compat_")
	for _, tag := range []string{"user_" + tag, tag} {
		id, ok := btf.Named(kernel.KindStruct, tag)
		if !ok {
			continue
		}
		f, err := btf.Field(id, name)
		if err != nil {
			continue
		}
		if p, err := btf.Type(btf.Skip(f.Type)); err == nil && p.Kind == kernel.KindPtr {
			return p.Elem
		}
	}
	return 0
}
