package infer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
)

// treeOf is the tree of a script.
func treeOf(t *testing.T, src string) *tree.Unit {
	t.Helper()
	res, err := infer.Plan(planOf(t, src), testFacts(t), infer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Tree
}

// openings has calls with the path in one place, in another one, and without one.
const openings = `
def opened(e):
    return record(
        flags = getattr(e.args, "flags", 0),
        path = getattr(e.args, "filename", getattr(e.args, "pathname", None)),
        result = e.ret,
    )

ev = event(("syscall:{openat,unlinkat,fchdir}", opened))
`

// TestUnreadSlots: the start of a call keeps what the handler reads of what the function of an event has. All of it,
// and which of the starts it was, is kept where the script asks which calls are open.
func TestUnreadSlots(t *testing.T) {
	for script, want := range map[string]int{
		`probe(ev, lambda e: print(e.path))`:                                    1,
		`probe(ev, lambda e: print(e.result))`:                                  0,
		`probe(ev, lambda e: print(e.result), where = lambda e: e.path != "x")`: 1,
		`probe(ev, lambda e: print(e.path, e.flags))`:                           2,
		"p = probe(ev, lambda e: print(e.result))\ndef ask(): p.items()\n":      4,
	} {
		u := treeOf(t, openings+script)
		if got := len(u.Spans[0].Slots); got != want || len(u.Spans[0].Names) != want {
			t.Errorf("%s: the start keeps %v, want %d values", script, u.Spans[0].Names, want)
		}
		for _, prog := range u.Programs {
			for _, v := range prog.Variants {
				checkSlots(t, u.Spans[0], prog.Name, v.Body)
			}
		}
	}
}

// checkSlots checks that a program fills all slots of a span, and reads no others.
func checkSlots(t *testing.T, span *tree.Span, name string, blk *tree.Block) {
	t.Helper()
	tree.WalkBlock(blk, func(s *tree.Stmt) {
		if s.Op == tree.SSpanStart && len(s.Exprs) != len(span.Slots) {
			t.Errorf("%s fills %d slots of %d", name, len(s.Exprs), len(span.Slots))
		}
	}, func(e *tree.Expr) {
		if e.Op == tree.OpSpanSlot && (e.Int >= int64(len(span.Slots)) || !e.Type.Equal(span.Slots[e.Int])) {
			t.Errorf("%s reads slot %d as %s of %v", name, e.Int, e.Type, span.Slots)
		}
	})
}

// TestOneShape: the ends of calls that have a value in other arguments, and take it at another place of the script, are
// one code where the handler reads only that.
func TestOneShape(t *testing.T) {
	for handler, want := range map[string]int{
		`lambda e: print(e.path if e.path != None else "none")`: 2, // with a path, and without
		`lambda e: print(e.result)`:                             1,
		`lambda e: print(e.path, e.flags)`:                      3,
	} {
		u := treeOf(t, openings+"probe(ev, "+handler+")")
		if got := shapes(u); len(got) != want {
			t.Errorf("%s: %d shapes, want %d:\n%s", handler, len(got), want, strings.Join(got, "\n"))
		}
	}
}

// shapes are those of the ends of calls.
func shapes(u *tree.Unit) (out []string) {
	seen := map[string]bool{}
	for _, prog := range u.Programs {
		if _, is := prog.Attach.Way.(tree.SyscallExit); !is {
			continue
		}
		for _, v := range prog.Variants {
			if text, _ := v.Body.Shape(u.Records); !seen[text] {
				seen[text] = true
				out = append(out, text)
			}
		}
	}
	return out
}

// TestOneField: what a handler takes several times is one field of its records, also where some points do not come to
// each of these places.
func TestOneField(t *testing.T) {
	for handler, want := range map[string]string{
		`lambda e: print(e.path if e.path != None else "none")`:                       "[path]",
		`lambda e: print(e.path if e.path != None and e.result == 0 else e.result)`:   "[path result]",
		`lambda e: print(e.path, e.result) if e.path != None else print(e.result)`:    "[path result]",
		`lambda e: print(e.flags if e.path != None else e.result)`:                    "[flags path result]",
		`lambda e: print(e.flags) if hasattr(e, "path") and e.path else print(e.pid)`: "[flags hasattr path pid]",
	} {
		for i, rec := range treeOf(t, openings+"probe(ev, "+handler+")").Records {
			var names []string
			for _, f := range rec.Fields {
				names = append(names, f.Name)
			}
			slices.Sort(names) // their order is that of the numbers of the calls
			if got := fmt.Sprint(names); got != want {
				t.Errorf("%s: record %d has %s, want %s", handler, i, got, want)
			}
		}
	}
}

// TestStartKeepsArguments: the start of each call keeps each of its arguments that the end reads, whatever the name is
// (mprotect has one of the name start), beside the number of the start.
func TestStartKeepsArguments(t *testing.T) {
	for _, sc := range kernel.Syscalls() {
		var asks []string
		for i, arg := range sc.Args() {
			asks = append(asks, fmt.Sprintf("getattr(e.args, %q), getattr(e.start.args, %[1]q), e.args[%d]", arg.Name,
				i))
		}
		for _, items := range []string{"", "def ask(): p.items()"} {
			u := treeOf(t, fmt.Sprintf("p = probe(%q, lambda e: print(e.ret, %s))\n%s\n", "syscall:"+sc.Name,
				strings.Join(asks, ", "), items))
			for _, prog := range u.Programs {
				for _, v := range prog.Variants {
					keepsArguments(t, sc.Name, u.Spans[0], v.Body)
				}
			}
		}
	}
}

// keepsArguments checks that what opens an entry fills all slots, but that of the number, from the registers.
func keepsArguments(t *testing.T, call string, span *tree.Span, blk *tree.Block) {
	t.Helper()
	tree.WalkBlock(blk, func(s *tree.Stmt) {
		for i, e := range s.Exprs {
			for e.Op == tree.OpConvert {
				e = e.Args[0]
			}
			if s.Op == tree.SSpanStart && (e.Op == tree.OpConst) != (i == 0 && span.Numbered) {
				t.Errorf("%s: slot %d %q is filled with %s", call, i, span.Names[i], e)
			}
		}
	}, func(*tree.Expr) {})
}
