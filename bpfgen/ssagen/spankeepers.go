package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// The programs that close or move entries of spans when threads end or execute a program.
//
// The entries of spans follow the thread. Four programs see to that, and none of them is a handler of the script:
//
//	program    at raw tracepoint    spans             what it does
//	SpanExec   sched_process_exec   by thread         moves the entry to the new number of the thread
//	SpanExit   sched_process_exit   by thread         removes the entry of a thread that ends
//	CallExec   sched_process_exec   of user calls     closes the calls of a thread that executes another program
//	CallFree   sched_process_free   of all calls      removes the calls of a thread that has ended
//
// A thread gets another number when it executes a program without being the leader of its process: threads 100, the
// leader, and 101 run, 101 calls execve(), and the kernel ends 100 and gives its number to 101. An open entry for
// execve() is under the key 101 then, and its end looks under 100. SpanExec moves it.

// keepers writes the programs that keep entries of spans true when threads end or execute programs.
type keepers struct{ *code }

// SpanExit builds the program that removes a thread's entries of the spans, and counts the open ones (SiteThreadEnded).
// It belongs at raw tracepoint sched_process_exit, which runs in the thread that ends, after its last system call. An
// error is a bug of the compiler, as with the three others.
func (s *Shared) SpanExit(p *tree.Program, spans []int) (*ir.Func, error) {
	b := newTop(s, p, &callees{}, nil)
	b.budget = DefaultStack
	key := b.tidKey()
	for _, i := range spans {
		keepers{b.code}.countEnded(i, key)
		b.Call(helperMapDelete, b.MapPtr(tree.SpanMap(i)), b.addr(key, 0))
		if span := b.Tree.Spans[i]; span.Ends && span.Plan != nil { // of many probes of system calls there is no room
			b.Call(helperMapDelete, b.MapPtr(tree.EndsMap(i)), b.addr(key, 0))
		}
	}
	b.ret()
	b.Func.Prune()
	return b.Func, b.Func.Check()
}

// countEnded counts the call that a thread which ends has not ended.
func (b keepers) countEnded(i int, key *region) {
	span, none := b.Tree.Spans[i], b.newJoin(types.Type{})
	p := b.Call(helperMapLookup, b.MapPtr(tree.SpanMap(i)), b.addr(key, 0))
	b.unless(ir.EQ, p, 0, func() { b.jump(none) })
	b.unless(ir.EQ, b.Load(8, p, layout.SpanBusy), 0, func() { b.jump(none) })
	b.countSite(left(span, tree.SiteThreadEnded))
	b.jump(none)
	b.enter(none)
}

// CallFree builds the program that removes the calls of a thread that has ended. It belongs at raw tracepoint
// sched_process_free: (task), after which nothing runs on that task's stack, and before which no other task lies at
// its address.
func (s *Shared) CallFree(p *tree.Program, spans []int) (*ir.Func, error) {
	b := newTop(s, p, &callees{}, nil)
	b.budget = DefaultStack
	task := b.Load(8, b.ctx(), 0)
	reads{b.code}.probeRead(tree.Kernel, b.temp(), b.Const(4), b.Add(task, b.Tree.TaskProcess))
	b.remember("pid", intVal(types.U64, b.Load(4, b.temp(), 0)))
	for _, i := range spans {
		p.Attach.Span = i
		keepers{b.code}.closeAll(task, tree.SiteThreadEnded, min(maxForgotten, maxKeptWays/2/int64(len(spans))))
	}
	b.ret()
	b.Func.Prune()
	return b.Func, b.Func.Check()
}

// maxForgotten is up to how many calls of a thread that has ended are removed. The verifier keeps a way for each, of
// all spans together.
const maxForgotten = 512

// closeAll removes the calls of a thread that are open.
func (b keepers) closeAll(task *ir.Value, kind tree.SiteKind, most int64) {
	span, name := b.span()
	key := b.alloc(layout.NestedKey)
	b.Store(8, b.addr(key, 0), 0, task)
	first, zero := nesting(b).nestedLookup(name, key, b.Const(0)), b.Const(0)
	nesting(b).drop(name, key, first, nesting(b).open(first), zero, dropping{left(span, kind), most})
	b.release(key)
}

// SpanExec builds the program that gives the entries of a thread to its new
// number. It belongs at raw tracepoint sched_process_exec: (task, old_pid,
// bprm), both numbers those of the first pid namespace (exec_binprm, fs/exec.c).
// The thread that had the new number, the leader, has ended by then (de_thread),
// and no other event tells that the old number is gone.
func (s *Shared) SpanExec(p *tree.Program, spans []int) (*ir.Func, error) {
	b := newTop(s, p, &callees{}, nil)
	b.budget = DefaultStack
	from := b.Extend(b.Load(8, b.ctx(), 8), 32, false)
	same := b.Cmp(ir.EQ, from, b.tid())
	b.unless(ir.NE, same, 0, b.ret)
	key := b.alloc(8)
	b.Store(8, b.addr(key, 0), 0, from)
	to := b.tidKey()
	for _, i := range spans {
		keepers{b.code}.moveEntry(i, key, to)
	}
	b.ret()
	b.Func.Prune()
	return b.Func, b.Func.Check()
}

// CallExec builds the program that closes the calls of a thread that executes
// another program: they never end. It belongs at raw tracepoint
// sched_process_exec, before the new program's first instruction. The task is the
// same before and after, whichever thread of a process it was.
func (s *Shared) CallExec(p *tree.Program, spans []int) (*ir.Func, error) {
	b := newTop(s, p, &callees{}, nil)
	b.budget = DefaultStack
	task := b.helperOnce("task_raw", helperGetCurrentTask)
	b.tgid()
	for _, i := range spans {
		p.Attach.Span = i
		keepers{b.code}.closeAll(task, tree.SiteOpenStart, maxDropped)
	}
	b.ret()
	b.Func.Prune()
	return b.Func, b.Func.Check()
}

// moveEntry moves the entry of a span to another key. One that is not open has
// nothing to be moved.
func (b keepers) moveEntry(i int, from, to *region) {
	span, name := b.Tree.Spans[i], tree.SpanMap(i)
	end := b.newJoin(types.Type{})
	p := b.Call(helperMapLookup, b.MapPtr(name), b.addr(from, 0))
	b.unless(ir.EQ, p, 0, func() { b.jump(end) })
	closed := b.newJoin(types.Type{})
	b.unless(ir.EQ, b.Load(8, p, layout.SpanBusy), 0, func() { b.jump(closed) })
	rc := b.Call(helperMapUpdate, b.MapPtr(name), b.addr(to, 0), p, b.Const(updateAny))
	b.unless(ir.NE, rc, 0, func() {
		b.countSite(left(span, tree.SiteSpanFull))
		b.jump(closed)
	})
	b.jump(closed)
	b.enter(closed)
	b.Call(helperMapDelete, b.MapPtr(name), b.addr(from, 0))
	b.jump(end)
	b.enter(end)
}
