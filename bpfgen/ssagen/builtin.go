package ssagen

import (
	"strconv"
	"strings"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// The instructions of attributes of e that helpers give: e.pid, e.comm, e.time, registers, and which are read once
// (`hoist`).

// builtins reads what each program knows of its event: the task, the time, registers.
type builtins struct{ *code }

func (b builtins) builtin(e *tree.Expr) val {
	switch e.Str {
	case "comm":
		return b.comm(e.Type)
	case "usermode":
		return intVal(e.Type, registers(b).userMode())
	}
	return intVal(e.Type, b.number64(e))
}

// number64 are the builtins that are numbers.
func (b builtins) number64(e *tree.Expr) *ir.Value {
	switch e.Str {
	case "pid":
		return b.tgid()
	case "tid":
		return b.tid()
	case "uid":
		return b.Extend(b.helperOnce("uid_gid", helperGetCurrentUidGid), 32, false)
	case "gid":
		return b.Imm(ir.OpLShr, b.helperOnce("uid_gid", helperGetCurrentUidGid), 32)
	case "cpu":
		return b.helperOnce("cpu_raw", helperGetSMPProcessorID)
	case "time":
		return b.helperOnce("time_raw", helperKtimeGetNS)
	case "cgroup":
		return b.Call(helperGetCurrentCgroupID)
	case "task":
		return b.helperOnce("task_raw", helperGetCurrentTask)
	case "ip":
		return b.Load(8, b.ctx(), b.Arch.IP)
	case "syscall_nr":
		return calls(b).syscallNr()
	case "syscall_name":
		return calls(b).nameInTable(calls(b).syscallNr())
	case "thread":
		return b.helperOnce("task_raw", helperGetCurrentTask)
	case "goroutine":
		return registers(b).register(strconv.Itoa(b.Arch.G))
	case "frame":
		return registers(b).frame()
	case "goframe":
		return registers(b).goFrame()
	case "depth":
		return b.nested.depth
	case "cookie":
		return b.once("cookie", func() *ir.Value { return b.Call(helperGetAttachCookie, b.ctx()) })
	}
	if off, ok := strings.CutPrefix(e.Str, "reg:"); ok {
		return registers(b).register(off)
	}
	if level, ok := tree.AncestorLevel(e.Str); ok {
		return b.Call(helperGetCurrentAncestorCgroupID, b.Const(level))
	}
	b.fail("builtin %s", e.Str)
	return nil
}

// comm is the name of the current task.
func (b builtins) comm(t types.Type) val {
	m := b.allocText(commSize)
	copies(b).commInto(func() *ir.Value { return b.addr(m, 0) })
	return val{t: t, s: &str{mem: m, room: commSize}}
}

// registers reads the span of pt_regs that the program uses, once in each
// place from which it is seen. A read of pt_regs does not fail.
func (b registers) registers() (int64, *region) {
	lo, hi := b.uses.registers()
	if b.regs == nil {
		b.regs = b.fresh(int(hi - lo)) // kept by the builder: never free
	}
	if _, ok := b.cache.Get("regs"); !ok {
		b.Call(helperProbeReadKernel, b.addr(b.regs, 0), b.Const(hi-lo), b.Add(b.callRegisters(), lo))
		b.remember("regs", val{t: types.NoneT})
	}
	return lo, b.regs
}

// callRegisters is where the registers are that the current system call was made with.
func (b registers) callRegisters() *ir.Value {
	if b.prog.Attach.Exact() {
		return b.Call(helperTaskPtRegs, b.Call(helperGetCurrentTaskBTF))
	}
	return b.Load(8, b.ctx(), 0)
}

// hoist reads what is used more than once where the handler begins: e.time is
// then the same everywhere, and ways that part do not read again.
func (b builtins) hoist() {
	for _, name := range []string{"pid", "tid", "time", "comm", "uid", "gid", "cpu", "task", "cgroup"} {
		if b.uses[name] > 1 {
			b.expr(&tree.Expr{Op: tree.OpBuiltin, Str: name, Type: builtinTypes[name]})
		}
	}
	aggs(b).hoistEpochs()
}

var builtinTypes = map[string]types.Type{
	"pid": types.U32, "tid": types.U32, "uid": types.U32, "gid": types.U32, "cpu": types.U32,
	"time": types.U64, "cgroup": types.U64, "task": types.U64, "comm": types.Comm,
}
