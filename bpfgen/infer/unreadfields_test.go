package infer_test

import (
	"fmt"
	"testing"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/bpfgen/tree"
)

// System calls that differ only in fields that nobody reads share their code: the shapes of their parts are one. What
// is read keeps them apart.
func TestUnreadFieldsShareCode(t *testing.T) {
	const src = `
def _returned(e):
    if e.ret != -9:
        return record(moved = e.ret, asked = e.args.count if hasattr(e.args, "count") else None, fd = e.args.fd, n = 1)

def _twice(e):
    return record(moved = e.moved, asked = e.asked) if e.moved > 0 else None

moved = event((event(("syscall:{read,readv}", _returned), doc = "d"), _twice), doc = "d")
seen = hist()
probe(moved, lambda e: seen.add(%s))
`
	facts := testFacts(t)
	for field, want := range map[string]int{"e.moved": 1, "e.moved + e.fd": 2, "e.asked if e.asked != None else 0": 2} {
		res, err := infer.Plan(planOf(t, fmt.Sprintf(src, field)), facts, infer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range res.Tree.Programs {
			if p.Attach.Kind() != tree.AttachSyscallExit {
				continue
			}
			shapes := map[string]bool{}
			for _, v := range p.Variants {
				shape, _ := v.Body.Shape(res.Tree.Records)
				shapes[shape] = true
			}
			if len(shapes) != want {
				t.Errorf("%s: %d shapes, want %d:\n%s", field, len(shapes), want, p)
			}
		}
	}
}
