package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/types"
)

// The program's context, and the numbers of process and thread, each read once.
//
// What the program knows of its event and of the task that it runs in, each read once.

// ctx is the address of the program's context.
func (b *code) ctx() *ir.Value {
	if v, ok := b.cache.Get("ctx"); ok {
		return v.x
	}
	x := b.Op(ir.OpCtx)
	b.remember("ctx", intVal(types.U64, x))
	return x
}

// once gives a 64-bit value that f makes where it is first needed. What is made on one way of a branch is not known
// behind it, and may be made again there.
func (b *code) once(key string, f func() *ir.Value) *ir.Value {
	v, ok := b.cache.Get(key)
	if !ok {
		v = intVal(types.U64, f())
		b.remember(key, v)
	}
	return v.x
}

// helperOnce is once for the result of a helper without arguments.
func (b *code) helperOnce(key string, helper int64) *ir.Value {
	return b.once(key, func() *ir.Value { return b.Call(helper) })
}

// pidTgid is the number of the process in the upper and that of the thread in the lower 32 bits.
func (b *code) pidTgid() *ir.Value { return b.helperOnce("pid_tgid", helperGetCurrentPidTgid) }

// tgid is e.pid: the upper 32 bits.
func (b *code) tgid() *ir.Value {
	return b.once("pid", func() *ir.Value { return b.Imm(ir.OpLShr, b.pidTgid(), 32) })
}

// tid is e.tid: the kernel's pid, the lower 32 bits.
func (b *code) tid() *ir.Value {
	return b.once("tid", func() *ir.Value { return b.Extend(b.pidTgid(), 32, false) })
}
