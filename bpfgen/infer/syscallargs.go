package infer

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// e.args and e.ret of syscall: points: registers, memory behind them, calls of programs of 32 bits. Each question is
// noted: calls with the same answers share a program.

func (a *syscallArgs) note(q question) {
	a.shared.log = append(a.shared.log, access{q, answersOf(a.sc).to(q)})
}

// arg reads argument i: its value at the start, memory behind it where b is.
func (a *syscallArgs) arg(b *body, i int, pos plan.Pos) val {
	spec := a.sc.Args()[i]
	word := a.word(i, pos)
	if !a.end {
		return b.memory().takenArg(b.argWords().syscallArg(word, spec, pos), spec,
			func(i int) *tree.Expr { return b.rv(a.arg(b, i, pos), pos) })
	}
	if readsAtStart(a.sc) && (spec.IsString || spec.IsStringList) {
		v := a.start.argWords().syscallArg(word, spec, pos)
		v.start = a.start
		return v
	}
	kept := b.here(val{expr: word, start: a.start, field: tree.Inner + "args." + spec.Name})
	return b.memory().takenArg(b.argWords().syscallArg(kept.expr, spec, pos), spec,
		func(i int) *tree.Expr { return b.rv(a.arg(b, i, pos), pos) })
}

func (a *syscallArgs) at(b *body, i int, pos plan.Pos) (val, bool) {
	a.note(argumentAt(i))
	if i < 0 || i >= len(a.sc.Args()) {
		return val{}, false
	}
	return a.arg(b, i, pos), true
}

func (a *syscallArgs) get(b *body, name string, pos plan.Pos) (val, bool) {
	a.note(argument(name))
	for i, arg := range a.sc.Args() {
		if arg.Name == name {
			return a.arg(b, i, pos), true
		}
	}
	return val{}, false
}

func (a *syscallArgs) names() []string {
	a.note(question{})
	var out []string
	for _, arg := range a.sc.Args() {
		out = append(out, arg.Name)
	}
	return out
}

// result is the value that a call gives to the program: on arm64 one of 32 bits to a program of 32 bits, of which the
// kernel takes the upper half for a sign.
func (a *syscallArgs) result(ret *tree.Expr, pos plan.Pos) *tree.Expr {
	if runtime.GOARCH != "arm64" {
		return ret
	}
	a.note(question{about: aboutInterface})
	if a.sc.Entry != kernel.EntryCompat {
		return ret
	}
	low := convert(ret, types.U32)
	failed := operation(tree.OpGe, types.Boolean, low, intExpr(1<<32-4095, pos), pos)
	return conditional(failed, convert(convert(ret, types.S32), types.I64), convert(low, types.I64), pos)
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
	low := convert(convert(argRegister(a.sc, at.Register, pos), types.IntOf(32, a.sc.Args()[i].Signed && at.Half)),
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

// syscallArg gives a register the meaning of an argument.
func (b argWords) syscallArg(word *tree.Expr, spec kernel.SyscallArg, pos plan.Pos) val {
	as := func(t types.Type) val {
		return exprVal(&tree.Expr{Op: tree.OpConvert, Type: t, Args: []*tree.Expr{word}, Pos: pos})
	}
	switch {
	case spec.IsString:
		return exprVal(b.memory().cstring(memPlace{word, 0, tree.User, b.body}, b.u.strMax+1, 0, pos))
	case spec.IsStringList:
		list := stringLists{b.memory()}.at(memPlace{word, 0, tree.User, b.body}, pos)
		if spec.Narrow {
			list.BitSize = 32
		}
		return exprVal(list)
	case spec.IsPtr:
		t := b.memory().pointerSpelled(spec.CType)
		t.Narrow = spec.Narrow
		return as(t)
	case spec.Size < 8:
		return as(types.IntOf(uint8(spec.Size*8), spec.Signed))
	case spec.Signed:
		return as(types.I64)
	}
	return exprVal(word)
}

// answers are what variants depend on at one system call. Each argument is put into words once, for a call is asked by
// every variant that came before it.
type answers struct {
	of   *kernel.Syscall
	args []string
}

func answersOf(sc *kernel.Syscall) *answers { return &answers{sc, make([]string, len(sc.Args()))} }

func (a *answers) to(q question) string {
	switch q.about {
	case aboutAll:
		return strconv.Itoa(a.of.Nr)
	case aboutInterface:
		return strconv.Itoa(int(a.of.Entry))
	}
	for i, arg := range a.of.Args() {
		if q == argument(arg.Name) || q == argumentAt(i) {
			return a.argument(i, arg)
		}
	}
	return ""
}

func (a *answers) argument(i int, arg kernel.SyscallArg) string {
	if a.args[i] == "" {
		a.args[i] = fmt.Sprintf("%d %s %t %d %s %d %v", i, arg.CType, readsAtStart(a.of), arg.Creating, arg.Use,
			a.of.Entry, a.of.Place(i))
	}
	return a.args[i]
}

func syscallNr(pos plan.Pos) *tree.Expr {
	return &tree.Expr{Op: tree.OpBuiltin, Type: types.U32, Str: "syscall_nr", Pos: pos}
}

// argRegister is the register with the number i among those of the call's arguments.
func argRegister(sc *kernel.Syscall, i int, pos plan.Pos) *tree.Expr {
	regs := kernel.RegisterOffsets("").SyscallArgs
	if sc.Entry == kernel.EntryCompat {
		regs = kernel.RegisterOffsets("").CompatArgs
	}
	return register(regs[i], pos)
}

// readsAtStart: what execve was given is gone when it returns.
func readsAtStart(sc *kernel.Syscall) bool { return strings.HasPrefix(sc.Name, "execve") }
