package bpfgen

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/ssagen"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// syscallArg is argument n of a system call: offsets of the registers in
// struct pt_regs (x86: di si dx r10 r8 r9; arm64: x0…).
func syscallArg(n int, t types.Type) *tree.Expr {
	off := []int{112, 104, 96, 56, 72, 64}[n]
	if runtime.GOARCH == "arm64" {
		off = 8 * n
	}
	return op(tree.OpConvert, t, builtin(fmt.Sprintf("reg:%d", off), types.U64))
}

// attach attaches the programs of a span.
func attach(t *testing.T, c *ebpf.Collection, u *Unit) {
	t.Helper()
	names := map[tree.AttachKind]string{tree.AttachSyscallEnter: "sys_enter", tree.AttachSyscallExit: "sys_exit"}
	for _, p := range u.Tree.Programs {
		name := p.Attach.Tracepoint()
		if n, ok := names[p.Attach.Kind()]; ok {
			name = n
		}
		l, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: name, Program: c.Programs[p.Name]})
		if errors.Is(err, os.ErrNotExist) {
			t.Skipf("needs raw tracepoint %s (CONFIG_FTRACE_SYSCALLS): %v", name, err)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
	}
}

func spanProgram(way tree.Way, name string, stmts ...*tree.Stmt) *tree.Program {
	return &tree.Program{Name: name, Attach: tree.Attach{Way: way}, Body: &tree.Block{Stmts: stmts}}
}

// TestSpan pairs start and end of openat: the name that the start reads, its
// time and the result belong together, in eight threads at once.
func TestSpan(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("needs amd64 or arm64")
	}
	name := &tree.Expr{Op: tree.OpStr, Type: types.StrOf(64).OrFault(), Str: tree.User,
		Args: []*tree.Expr{syscallArg(1, types.U64)}}
	slots := []types.Type{name.Type, types.U64, types.S32}
	slot := func(n int64) *tree.Expr { return &tree.Expr{Op: tree.OpSpanSlot, Type: slots[n], Int: n} }
	fields := []*tree.Expr{slot(0), op(tree.OpSub, types.I64, builtin("time", types.U64), slot(1)), arg(1, types.I64),
		slot(2)}
	var ts []types.Type
	for _, f := range fields {
		ts = append(ts, f.Type)
	}
	u := &tree.Unit{
		Target:  plan.Target{PID: os.Getpid()},
		Spans:   []*tree.Span{{Slots: slots, Size: 1000, Syscalls: []int{unix.SYS_OPENAT}}},
		Records: []*wire.Record{layout.Record(0, 0, []string{"name", "duration", "ret", "dfd"}, ts)},
		Programs: []*tree.Program{
			spanProgram(tree.SyscallEnter{}, "start", stmt(tree.SSpanStart, 0, name, builtin("time", types.U64),
				syscallArg(0, types.S32))),
			spanProgram(tree.SyscallExit{}, "end", stmt(tree.SSpanEnd, 0), stmt(tree.SSend, 0, fields...)),
		},
	}
	c, unit := load(t, u, Options{RingSize: 1 << 20})
	attach(t, c, unit)
	const threads, opens = 8, 200
	openAll(threads, opens)
	r := newRing(t, c.Maps[MapRing])
	seen := map[string]bool{}
	missed := missedRuns(t, c) // from 7.2 on a preempted program loses events
	for range threads*opens - missed {
		rec := r.next(t)
		var w, i int
		s := recordString(16, rec)
		if _, err := fmt.Sscanf(s, "/nonexistent/%d/%d", &w, &i); err != nil {
			t.Fatalf("name %q", s)
		}
		if seen[s] {
			t.Errorf("%s twice", s)
		}
		seen[s] = true
		// The directory descriptor says which thread and call it was.
		if dfd := int32(binary.NativeEndian.Uint32(rec[40:])); dfd != int32(-1000*w-i-1) {
			t.Errorf("%s with descriptor %d", s, dfd)
		}
		if ret := word(rec[32:], 0); ret != -int64(unix.ENOENT) {
			t.Errorf("%s returned %d", s, ret)
		}
		if d := word(rec[24:], 0); d <= 0 || d > 1e10 {
			t.Errorf("%s took %d ns", s, d)
		}
	}
	if got := sites(t, c, unit); len(got) > 0 && missed == 0 {
		t.Errorf("sites %v", got)
	}
}

// missedRuns is how often the kernel did not run a program.
func missedRuns(t *testing.T, c *ebpf.Collection) int {
	t.Helper()
	n := 0
	for name, p := range c.Programs {
		s, err := p.Stats()
		if err != nil {
			t.Fatalf("statistics of %s: %v", name, err)
		}
		n += int(s.RecursionMisses)
	}
	return n
}

// openAll opens absolute names, so that the descriptor is free to carry a
// number.
func openAll(threads, opens int) {
	var wg sync.WaitGroup
	for w := range threads {
		wg.Go(func() {
			runtime.LockOSThread() // not unlocked: the thread ends, and its entry with it
			for i := range opens {
				unix.Openat(-1000*w-i-1, fmt.Sprintf("/nonexistent/%d/%d", w, i), unix.O_RDONLY, 0)
			}
		})
	}
	wg.Wait()
}

// TestVariants counts calls by variant; the last one is for all others.
func TestVariants(t *testing.T) {
	if ssagen.ArchOf(runtime.GOARCH) == nil {
		t.Skip("needs amd64 or arm64")
	}
	calls := []int{unix.SYS_GETPPID, unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID}
	sortInts(calls)
	count := func(n int64) *tree.Block {
		return &tree.Block{Stmts: []*tree.Stmt{stmt(tree.SAggAdd, n, konst(1), konst(1))}}
	}
	p := spanProgram(tree.SyscallEnter{}, "start")
	p.Body = nil
	p.Variants = []tree.Variant{
		{Syscalls: []int{unix.SYS_GETPPID}, Body: count(0)},
		{Syscalls: sortInts([]int{unix.SYS_GETUID, unix.SYS_GETGID}), Body: count(1)},
		{Body: count(2)},
	}
	u := &tree.Unit{
		Target:   plan.Target{PID: os.Getpid()},
		Spans:    []*tree.Span{{Size: 10, Syscalls: calls}},
		Programs: []*tree.Program{p},
	}
	for i := range 3 {
		c := container(plan.Count, types.NoneT, types.Type{})
		c.ID = i
		u.Containers = append(u.Containers, c)
	}
	c, unit := load(t, u, Options{})
	attach(t, c, unit)
	for range 10 {
		unix.Getppid()
		unix.Getuid()
		unix.Getgid()
		unix.Geteuid()
		unix.Getpagesize()
	}
	for i, want := range []int64{10, 20, 10} {
		if got := word(single(t, c.Maps[tree.ContainerMap(i)]), 0); got != want {
			t.Errorf("variant %d ran %d times, want %d", i, got, want)
		}
	}
}

func sortInts(list []int) []int {
	slices.Sort(list)
	return list
}

// TestSpanExec: an open entry follows its thread to another number, one that is
// not open goes.
func TestSpanExec(t *testing.T) {
	s := newKeyedSpan(t, &tree.Span{Size: 10}, false)
	old := make(chan int)
	begin := func() {
		runtime.LockOSThread() // not unlocked: no other goroutine shall have the number
		s.start(t, 0, 10)
		old <- unix.Gettid()
		select {} // as long as the test, so that the number is not given again
	}
	go begin()
	from := <-old
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s.exec(t, unix.Gettid()) // execve of a leader changes nothing
	s.exec(t, from)
	s.end(t, 0, 20)
	s.want(t, []string{"20 10"}, map[string]int64{})
	s.start(t, 0, 11)
	s.exec(t, from) // has no entry any more
	s.end(t, 0, 21)
	s.want(t, []string{"21 11"}, map[string]int64{})
	if n := s.open(t); n != 1 {
		t.Errorf("%d entries, want that of this thread", n)
	}
	moved := make(chan bool)
	me := unix.Gettid()
	go func() {
		runtime.LockOSThread()
		s.exec(t, me) // the entry is closed
		close(moved)
	}()
	<-moved
	if n := s.open(t); n != 0 {
		t.Errorf("%d entries are left of a thread without its number", n)
	}
}

// TestSpanExecFull: an open entry that finds no room is counted.
func TestSpanExecFull(t *testing.T) {
	s := newKeyedSpan(t, &tree.Span{Size: 1}, false)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s.start(t, 0, 10)
	me, done := unix.Gettid(), make(chan bool)
	go func() {
		runtime.LockOSThread()
		s.exec(t, me)
		s.end(t, 0, 20)
		close(done)
	}()
	<-done
	s.want(t, nil, map[string]int64{"spanfull": 1})
	if n := s.open(t); n != 0 {
		t.Errorf("%d entries are left", n)
	}
}
