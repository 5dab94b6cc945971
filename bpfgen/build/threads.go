package build

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// The entries of spans by thread follow the thread: it gets another number when
// it executes a program without being the leader of its process, and it ends.

// SpanExit builds the program that removes a thread's entries of the spans. It
// belongs at raw tracepoint sched_process_exit, which runs in the thread that
// ends, after its last system call.
func (s *Shared) SpanExit(p *tree.Program, spans []int) (*ir.Func, error) {
	b := newBuilder(s, p)
	b.budget = DefaultStack
	key := b.tidKey()
	for _, i := range spans {
		b.countEnded(i, key)
		b.call(helperMapDelete, b.mapPtr(tree.SpanMap(i)), b.addr(key, 0))
		if b.Tree.Spans[i].Ends {
			b.call(helperMapDelete, b.mapPtr(tree.EndsMap(i)), b.addr(key, 0))
		}
	}
	b.ret()
	b.f.Prune()
	return b.f, b.f.Check()
}

// countEnded counts the call that a thread which ends has not ended.
func (b *builder) countEnded(i int, key *region) {
	span, none := b.Tree.Spans[i], b.newJoin(types.Type{})
	p := b.call(helperMapLookup, b.mapPtr(tree.SpanMap(i)), b.addr(key, 0))
	b.unless(ir.EQ, p, 0, func() { b.jump(none) })
	b.unless(ir.EQ, b.load(8, p, layout.SpanBusy), 0, func() { b.jump(none) })
	b.countSite(left(span, tree.SiteThreadEnded))
	b.jump(none)
	b.enter(none)
}

// left is where calls of a span are counted that are left by other ways than a return.
func left(span *tree.Span, kind tree.SiteKind) tree.Site {
	return tree.Site{Kind: kind, Probe: span.Probe, Container: -1, Pos: span.Pos}
}

// CallFree builds the program that removes the calls of a thread that has ended. It belongs at raw tracepoint
// sched_process_free: (task), after which nothing runs on that task's stack, and before which no other task lies at
// its address.
func (s *Shared) CallFree(p *tree.Program, spans []int) (*ir.Func, error) {
	b := newBuilder(s, p)
	b.budget = DefaultStack
	task := b.load(8, b.ctx(), 0)
	b.probeRead(tree.Kernel, b.temp(), b.konst(4), b.add(task, b.Tree.TaskProcess))
	b.remember("pid", intVal(types.U64, b.load(4, b.temp(), 0)))
	for _, i := range spans {
		p.Attach.Span = i
		b.closeAll(task, tree.SiteThreadEnded, min(maxForgotten, maxKeptWays/2/int64(len(spans))))
	}
	b.ret()
	b.f.Prune()
	return b.f, b.f.Check()
}

// maxForgotten is up to how many calls of a thread that has ended are removed. The verifier keeps a way for each, of all
// spans together.
const maxForgotten = 512

// closeAll removes the calls of a thread that are open.
func (b *builder) closeAll(task *ir.Value, kind tree.SiteKind, most int64) {
	span, name := b.span()
	key := b.alloc(layout.NestedKey)
	b.store(8, b.addr(key, 0), 0, task)
	first, zero := b.nestedLookup(name, key, b.konst(0)), b.konst(0)
	b.drop(name, key, first, b.open(first), zero, dropping{left(span, kind), most})
	b.release(key)
}

// SpanExec builds the program that gives the entries of a thread to its new
// number. It belongs at raw tracepoint sched_process_exec: (task, old_pid,
// bprm), both numbers those of the first pid namespace (exec_binprm, fs/exec.c).
// The thread that had the new number, the leader, has ended by then (de_thread),
// and no other event tells that the old number is gone.
func (s *Shared) SpanExec(p *tree.Program, spans []int) (*ir.Func, error) {
	b := newBuilder(s, p)
	b.budget = DefaultStack
	from := b.extend(b.load(8, b.ctx(), 8), 32, false)
	same := b.cmp(ir.EQ, from, b.tid())
	b.unless(ir.NE, same, 0, b.ret)
	key := b.alloc(8)
	b.store(8, b.addr(key, 0), 0, from)
	to := b.tidKey()
	for _, i := range spans {
		b.moveEntry(i, key, to)
	}
	b.ret()
	b.f.Prune()
	return b.f, b.f.Check()
}

// CallExec builds the program that closes the calls of a thread that executes
// another program: they never end. It belongs at raw tracepoint
// sched_process_exec, before the new program's first instruction. The task is the
// same before and after, whichever thread of a process it was.
func (s *Shared) CallExec(p *tree.Program, spans []int) (*ir.Func, error) {
	b := newBuilder(s, p)
	b.budget = DefaultStack
	task := b.helperOnce("task_raw", helperGetCurrentTask)
	b.tgid()
	for _, i := range spans {
		p.Attach.Span = i
		b.closeAll(task, tree.SiteOpenStart, maxDropped)
	}
	b.ret()
	b.f.Prune()
	return b.f, b.f.Check()
}

// moveEntry moves the entry of a span to another key. One that is not open has
// nothing to be moved.
func (b *builder) moveEntry(i int, from, to *region) {
	span, name := b.Tree.Spans[i], tree.SpanMap(i)
	end := b.newJoin(types.Type{})
	p := b.call(helperMapLookup, b.mapPtr(name), b.addr(from, 0))
	b.unless(ir.EQ, p, 0, func() { b.jump(end) })
	closed := b.newJoin(types.Type{})
	b.unless(ir.EQ, b.load(8, p, layout.SpanBusy), 0, func() { b.jump(closed) })
	rc := b.call(helperMapUpdate, b.mapPtr(name), b.addr(to, 0), p, b.konst(updateAny))
	b.unless(ir.NE, rc, 0, func() {
		b.countSite(left(span, tree.SiteSpanFull))
		b.jump(closed)
	})
	b.jump(closed)
	b.enter(closed)
	b.call(helperMapDelete, b.mapPtr(name), b.addr(from, 0))
	b.jump(end)
	b.enter(end)
}
