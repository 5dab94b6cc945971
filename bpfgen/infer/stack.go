package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// stack is e.stack(n) or e.ustack(n).
func (b *body) stack(name string, args []arg, pos plan.Pos) val {
	n := int64(wire.MaxStack)
	if a := want(args, 0, 1, "e."+name+"(frames)", pos); len(a) == 1 {
		var ok bool
		if n, ok = a[0].constInt(); !ok {
			wrong(pos, "e.%s takes a constant number of frames", name)
		}
		if n < 1 || n > wire.MaxStack {
			wrong(pos, "e.%s takes from 1 to %d frames, got %d", name, wire.MaxStack, n)
		}
	}
	t := b.u.res.Tree
	t.StackFrames = max(t.StackFrames, int(n))
	space := tree.Kernel
	if name == "ustack" {
		space, t.UserStacks = tree.User, true
	}
	return exprVal(&tree.Expr{Op: tree.OpStack, Type: types.Type{Kind: types.Stack}, Str: space, Int: n, Pos: pos})
}
