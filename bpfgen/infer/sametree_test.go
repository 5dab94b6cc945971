package infer_test

import (
	"fmt"
	"testing"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/bpfgen/tree"
)

// What a script becomes is the same each time, to the places in the script that listings show: of several uses of one
// field it is the first.
func TestSameTreeEachTime(t *testing.T) {
	const src = `
probe("rawtracepoint:sched_wakeup", lambda e: print(e.args.p.pid, e.args.p.pid, e.args.p.pid, e.comm, e.comm))
`
	facts := testFacts(t)
	for range 20 {
		res, err := infer.Plan(planOf(t, src), facts, infer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range sent(res.Tree.Programs[0].Body) {
			got = append(got, fmt.Sprintf("%d:%d", e.Pos.Line, e.Pos.Col))
		}
		if want := "[2:62 2:97]"; fmt.Sprint(got) != want {
			t.Fatalf("fields are read at %v, want %s", got, want)
		}
	}
}

// sent are the fields of the first record that statements send.
func sent(b *tree.Block) []*tree.Expr {
	for _, s := range b.Stmts {
		if s.Op == tree.SSend {
			return s.Exprs
		}
		for _, inner := range []*tree.Block{s.Then, s.Else} {
			if inner == nil {
				continue
			}
			if list := sent(inner); list != nil {
				return list
			}
		}
	}
	return nil
}
