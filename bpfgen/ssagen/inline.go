package ssagen

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// The body of a function of the script that stands where it is called.

// inlined builds the body of inline n, whose value is of type t.
func (b stmts) inlined(n int64, t types.Type, body *tree.Block) val {
	in := &inline{b.newJoin(valueType(t))}
	b.inlines[n] = in
	b.block(body)
	b.jumpWith(in.done, b.absent(t, tree.TagNone))
	return b.enter(in.done)
}
