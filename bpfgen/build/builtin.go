package build

import (
	"strconv"
	"strings"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// ctx is the context; the entry holds it once.
func (b *builder) ctx() *ir.Value {
	if v, ok := b.cache.Get("ctx"); ok {
		return v.x
	}
	x := b.op(ir.OpCtx)
	b.remember("ctx", intVal(types.U64, x))
	return x
}

// once gives a 64-bit value that is made by f where it is first needed.
func (b *builder) once(key string, f func() *ir.Value) *ir.Value {
	v, ok := b.cache.Get(key)
	if !ok {
		v = intVal(types.U64, f())
		b.remember(key, v)
	}
	return v.x
}

func (b *builder) helperOnce(key string, helper int64) *ir.Value {
	return b.once(key, func() *ir.Value { return b.call(helper) })
}

func (b *builder) pidTgid() *ir.Value { return b.helperOnce("pid_tgid", helperGetCurrentPidTgid) }

// tgid is e.pid: the upper half.
func (b *builder) tgid() *ir.Value {
	return b.once("pid", func() *ir.Value { return b.imm(ir.OpLShr, b.pidTgid(), 32) })
}

// tid is e.tid: the kernel's pid, the lower half.
func (b *builder) tid() *ir.Value {
	return b.once("tid", func() *ir.Value { return b.extend(b.pidTgid(), 32, false) })
}

func (b *builder) builtin(e *tree.Expr) val {
	switch e.Str {
	case "comm":
		return b.comm(e.Type)
	case "usermode":
		return intVal(e.Type, b.userMode())
	}
	return intVal(e.Type, b.number64(e))
}

// number64 are the builtins that are numbers.
func (b *builder) number64(e *tree.Expr) *ir.Value {
	switch e.Str {
	case "pid":
		return b.tgid()
	case "tid":
		return b.tid()
	case "uid":
		return b.extend(b.helperOnce("uid_gid", helperGetCurrentUidGid), 32, false)
	case "gid":
		return b.imm(ir.OpLShr, b.helperOnce("uid_gid", helperGetCurrentUidGid), 32)
	case "cpu":
		return b.helperOnce("cpu_raw", helperGetSMPProcessorID)
	case "time":
		return b.helperOnce("time_raw", helperKtimeGetNS)
	case "cgroup":
		return b.call(helperGetCurrentCgroupID)
	case "task":
		return b.helperOnce("task_raw", helperGetCurrentTask)
	case "ip":
		return b.load(8, b.ctx(), b.Arch.IP)
	case "syscall_nr":
		return b.syscallNr()
	case "syscall_name":
		return b.nameInTable(b.syscallNr())
	case "thread":
		return b.helperOnce("task_raw", helperGetCurrentTask)
	case "goroutine":
		return b.register(strconv.Itoa(b.Arch.G))
	case "frame":
		return b.frame()
	case "goframe":
		return b.goFrame()
	case "depth":
		return b.nested.depth
	case "cookie":
		return b.once("cookie", func() *ir.Value { return b.call(helperGetAttachCookie, b.ctx()) })
	}
	if off, ok := strings.CutPrefix(e.Str, "reg:"); ok {
		return b.register(off)
	}
	b.fail("builtin %s", e.Str)
	return nil
}

// comm is the name of the current task.
func (b *builder) comm(t types.Type) val {
	m := b.allocText(commSize)
	b.commInto(func() *ir.Value { return b.addr(m, 0) })
	return val{t: t, s: &str{mem: m, room: commSize}}
}

// commSize is TASK_COMM_LEN.
const commSize = 16

// commInto writes the name and NULs behind it. Some kernels do not pad: 6.1
// leaves what was there (strscpy in bpf_get_current_comm).
func (b *builder) commInto(dst func() *ir.Value) {
	b.cur.AddImm(ir.OpZero, b.pos, commSize, dst())
	b.call(helperGetCurrentComm, dst(), b.konst(commSize))
}

// register is 8 bytes of pt_regs. Those of a system call are read together.
func (b *builder) register(offset string) *ir.Value {
	off, err := strconv.ParseInt(offset, 10, 16)
	if err != nil {
		b.fail("register %q", offset)
	}
	switch b.prog.Attach.Kind {
	case tree.AttachSyscallEnter, tree.AttachSyscallExit:
	default:
		return b.load(8, b.ctx(), off)
	}
	lo, m := b.registers()
	return b.load(8, b.addr(m, off-lo), 0)
}

// registers reads the span of pt_regs that the program uses, once in each
// place from which it is seen. A read of pt_regs does not fail.
func (b *builder) registers() (int64, *region) {
	lo, hi := b.uses.registers()
	if b.regs == nil {
		b.regs = b.fresh(int(hi - lo)) // kept by the builder: never free
	}
	if _, ok := b.cache.Get("regs"); !ok {
		regs := b.load(8, b.ctx(), 0)
		b.call(helperProbeReadKernel, b.addr(b.regs, 0), b.konst(hi-lo), b.add(regs, lo))
		b.remember("regs", val{t: types.NoneT})
	}
	return lo, b.regs
}

// registers gives the range of pt_regs that covers all uses.
func (u uses) registers() (lo, hi int64) {
	lo = 1 << 15
	for name := range u {
		if off, ok := strings.CutPrefix(name, "reg:"); ok {
			n, _ := strconv.ParseInt(off, 10, 16)
			lo, hi = min(lo, n), max(hi, n+8)
		}
	}
	return lo, hi
}

// hoist reads what is used more than once where the handler begins: e.time is
// then the same everywhere, and ways that part do not read again.
func (b *builder) hoist() {
	for _, name := range []string{"pid", "tid", "time", "comm", "uid", "gid", "cpu", "task", "cgroup"} {
		if b.uses[name] > 1 {
			b.read(&tree.Expr{Op: tree.OpBuiltin, Str: name, Type: builtinTypes[name]})
		}
	}
	b.hoistEpochs()
}

var builtinTypes = map[string]types.Type{
	"pid": types.U32, "tid": types.U32, "uid": types.U32, "gid": types.U32, "cpu": types.U32,
	"time": types.U64, "cgroup": types.U64, "task": types.U64, "comm": types.Comm,
}
