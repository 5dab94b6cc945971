package infer_test

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/test/smallkernel"
)

// The process is tested before the function of an event, unless the test or other events want what that gives.
//
// > With `-p`, `-c` and their like a function of `event()` runs for the processes that are traced.
// > One runs for all processes if it gives the event a `pid`, or changes a table or a cell, which other events may look
// > up.
func TestProcessIsTestedFirst(t *testing.T) {
	const early, late = "pid user", "user pid"
	for _, c := range []struct{ name, event, want string }{
		{"a function", `lambda e: record(user = e.ustack())`, early},
		{"one that returns nothing", `lambda e: record(user = e.ustack()) if e.cpu else None`, early},
		{"a pid of its own", `lambda e: record(user = e.ustack(), pid = e.args.p.pid)`, late},
		{"a table of all processes", `note`, late},
		{"an aggregation", `count_all`, early},
		{"a cell", `last`, late},
		{"what is taken out of a table", `take`, late},
		{"a table that is read", `look`, early},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := planOf(t, `
seen, all, cellar = table(), count(), cell("")
def note(e):
    seen[e.comm] = e.cpu
    return record(user = e.ustack())
def count_all(e):
    all.add()
    return record(user = e.ustack())
def last(e):
    cellar.set(e.comm)
    return record(user = e.ustack())
def take(e):
    return record(user = e.ustack(), was = seen.pop(e.comm, 0))
def look(e):
    return record(user = e.ustack(), was = seen.get(e.comm, 0))
n = count()
probe(event(("rawtracepoint:sched_wakeup", `+c.event+`)), kernel = lambda e: n[e.user].add())
`)
			p.Target = plan.Target{PID: 5}
			facts := kernel.Open(kernel.Options{BTF: smallkernel.BTF(t, smallkernel.Types()...), Release: "6.18.0",
				Symbols: testSymbols, Blacklist: testBlacklist})
			res, err := infer.Plan(p, facts, infer.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := orderOfTest(res.Tree.Programs[0]); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// orderOfTest says in which order a program looks at the number of the process and takes the stack.
func orderOfTest(p *tree.Program) string {
	var order []string
	note := func(what string) {
		if !strings.Contains(strings.Join(order, " "), what) {
			order = append(order, what)
		}
	}
	tree.WalkBlock(p.Body, func(*tree.Stmt) {}, func(e *tree.Expr) {
		switch {
		case e.Op == tree.OpStack:
			note("user")
		case e.Op == tree.OpEq && len(e.Args) == 2 && e.Args[1].Op == tree.OpConst && e.Args[1].Int == 5:
			note("pid")
		}
	})
	return strings.Join(order, " ")
}
