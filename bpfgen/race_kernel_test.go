package bpfgen

import (
	"os"
	"runtime"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// TestKeyedSpanRace starts and ends the same key on all CPUs at once, by system
// calls: getppid starts, getuid ends. Each start is paired once, or replaced, or
// lost with an end that came at the same time, and that is counted.
//
// > An end of a span with a key can run at the same moment as another start of that key.
// > It is not paired then, and both are counted as one lost pair.
func TestKeyedSpanRace(t *testing.T) {
	for _, first := range []bool{false, true} {
		testRace(t, first)
	}
}

// longText is the room of a string in bytes.
const longText = 4000

func testRace(t *testing.T, first bool) {
	t.Helper()
	calls := 50_000
	if testing.Short() {
		calls = 10_000
	}
	threads := 2 * runtime.NumCPU()
	// The number that the caller of getppid leaves in its first register.
	number := &tree.Expr{Op: tree.OpLoad, Type: types.U64, Str: tree.Kernel,
		Int: int64(kernel.RegisterOffsets("").SyscallArgs[0]), Args: []*tree.Expr{arg(0, types.U64)}}
	slot := &tree.Expr{Op: tree.OpSpanSlot, Type: types.U64}
	number.Type.MayFault, slot.Type.MayFault = true, true
	// An entry that takes long to copy: more comes in between.
	text := &tree.Expr{Op: tree.OpConst, Type: types.StrOf(longText), Str: "x"}
	only := func(nr int64, stmts ...*tree.Stmt) *tree.Program {
		mine := op(tree.OpLAnd, types.Boolean, op(tree.OpEq, types.Boolean, arg(1, types.I64), konst(nr)),
			op(tree.OpEq, types.Boolean, builtin("pid", types.U32), konst(int64(os.Getpid()))))
		return program(nil, &tree.Stmt{Op: tree.SIf, Exprs: []*tree.Expr{mine}, Then: &tree.Block{Stmts: stmts}})
	}
	start := only(unix.SYS_GETPPID, stmt(tree.SSpanStart, 0, konst(7), number, text))
	end := only(unix.SYS_GETUID, stmt(tree.SSpanEnd, 0, konst(7)), stmt(tree.SAggAdd, 0, konst(1), konst(1), slot))
	end.Name = "p1"
	pairs := container(plan.Count, slot.Type, types.Type{})
	pairs.Size = threads * calls
	u := &tree.Unit{
		Spans: []*tree.Span{{Key: types.I64, Size: 10, First: first,
			Slots: []types.Type{slot.Type, types.StrOf(longText)}}},
		Programs:   []*tree.Program{start, end},
		Containers: []*tree.Container{pairs},
	}
	c, unit := load(t, u, Options{})
	attach(t, c, unit)
	callAll(threads, calls)
	missed := int64(missedRuns(t, c))
	paired := int64(0)
	it := c.Maps["c0"].Iterate()
	var k, v []byte
	for it.Next(&k, &v) {
		n := word(v, 0)
		if n != 1 {
			t.Errorf("start %d is paired %d times", word(k, 0), n)
		}
		paired += n
	}
	left := int64(0)
	for it := c.Maps["span0"].Iterate(); it.Next(&k, &v); {
		left++
	}
	lost := sites(t, c, unit)
	all := int64(threads * calls)
	starts, ends := paired+lost["open"]+lost["spanfull"]+lost["race"]+left, paired+lost["orphan"]+lost["race"]
	t.Logf("%d paired, %d left, losses %v, missed %d", paired, left, lost, missed)
	if starts > all || starts+missed < all {
		t.Errorf("%d of %d starts are accounted for: %d paired, %d left, losses %v, %d missed runs", starts, all,
			paired, left, lost, missed)
	}
	if ends > all || ends+missed < all {
		t.Errorf("%d of %d ends are accounted for: %d paired, losses %v, %d missed runs", ends, all, paired, lost,
			missed)
	}
}

// callAll starts and ends in all threads, each start with a number of its own.
func callAll(threads, calls int) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads + 1))
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for w := range threads {
		wg.Go(func() {
			runtime.LockOSThread()
			<-begin
			for i := range calls {
				unix.RawSyscall(unix.SYS_GETPPID, uintptr(w<<32|i), 0, 0)
				unix.RawSyscall(unix.SYS_GETUID, 0, 0, 0)
			}
		})
	}
	close(begin)
	wg.Wait()
}
