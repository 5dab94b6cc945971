package infer

import (
	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// e at each kind of point: the case of `eventAt` for tracepoints, functions, samples and others, and e.addr.

// eventAt is e at a target with a program of its own, in that program: what is there depends on the target's source.
func (b *body) eventAt(t *points.Target) *event {
	switch s := t.Source.(type) {
	case *points.Tracepoint:
		return b.tracepointEvent(t, s)
	case *points.RawTracepoint:
		return b.rawTracepointEvent(t, s)
	case *points.Functions:
		return b.firstFunction(s)
	case points.Hooks:
		return b.firstFunction(s.Functions)
	case *points.Timer:
		return &event{b: b, point: t.Text, profile: true, regs: true, clock: !s.EveryCPU}
	case *points.Counter, *points.Watchpoint:
		return b.sample(t)
	case *points.Iterator:
		return b.iterEvent(t, s)
	}
	panic(t.Text + " has no program of its own, or nobody knows what its event is")
}

func (b *body) tracepointEvent(t *points.Target, tp *points.Tracepoint) *event {
	format, err := tp.Format(b.u.facts)
	if err != nil {
		wrong(t.Pos, "%v", err)
	}
	if tp.Call != nil {
		b.onlyCall(tp.Call, t.Pos)
	}
	return &event{b: b, point: t.Text, args: &tracepointArgs{format}}
}

// onlyCall ends the program, which runs at each system call, at any but one. That of the 32-bit interface with the same
// number is another call, and the kernel does not take it for this one either (ARCH_TRACE_IGNORE_COMPAT_SYSCALLS).
func (b *body) onlyCall(call *kernel.Syscall, pos plan.Pos) {
	nr := load(ctxPlace(b, 8, pos), types.I64, pos)
	b.require(cond{expr: operation(tree.OpEq, types.Boolean, nr, intExpr(int64(call.Nr), pos), pos)}, pos)
	if compat := b.memory().isCompat(pos); compat != nil {
		b.require(cond{expr: not(compat, pos)}, pos)
	}
}

func (b *body) rawTracepointEvent(t *points.Target, rt *points.RawTracepoint) *event {
	typed, err := b.u.facts.RawTracepoint(rt.Of)
	if err != nil {
		wrong(t.Pos, "%v", err)
	}
	return &event{b: b, point: t.Text, args: &rawArgs{typed}}
}

// firstFunction is e at the first of some functions, for a program that no other function shares.
func (b *body) firstFunction(fs *points.Functions) *event {
	f := newView(fs, fs.Funcs[0], new([]access))
	f.shared = false
	return funcEvent(b, fs, f)
}

// sample is e where a perf event hit: with the registers, and the address that the event is about.
func (b *body) sample(t *points.Target) *event {
	return &event{b: b, point: t.Text, profile: true, regs: true, addr: perfAddress(b)}
}

// perfAddress is e.addr: the address that the event is about, such as that of
// a page fault. It follows the registers and the period in struct
// bpf_perf_event_data (include/uapi/linux/bpf_perf_event.h; from 4.17).
func perfAddress(b *body) func(plan.Pos) val {
	return func(pos plan.Pos) val {
		return exprVal(load(ctxPlace(b, kernel.RegisterOffsets("").UserSize+8, pos), types.U64, pos))
	}
}
