package infer

import (
	"fmt"
	"slices"

	"github.com/startrace/startrace/bpfgen/attrs"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// s[i], len(s) and the attributes of a stack, which only user space knows.
//
// What a stack has is known where its addresses get their names, in user space. A kernel half that asks for a frame of
// it, for a part of a frame or for how many there are keeps the stack, with a label that says what readers see of it:
// "frame:0", "frame.name:0", "len". So a view is stored, sent and a key as a stack is, and is not computed with.

// stackFrame is s[i] of a stack.
func (b memory) stackFrame(x, i val, pos plan.Pos) val {
	n, ok := i.constInt()
	switch {
	case !ok:
		refuse(pos, constantIndex, "a stack")
	case n < 0:
		refuse(pos, "a stack has [%d] in user space only: a kernel half counts frames from the leaf, s[0]", n)
	}
	s := b.present(x, "a stack", pos)
	if s.Op == tree.OpStack {
		if n >= s.Int {
			wrong(pos, "a stack of at most %d frames has no [%d]", s.Int, n)
		}
		short := *s // the frames behind are not seen, and would make more stacks of it
		short.Int = n + 1
		s = &short
		b.u.cutStacks = b.u.cutStacks || s.Str != tree.User
	}
	return stackView(s, fmt.Sprint("frame:", n), pos)
}

// stackLength is len() of a stack.
func (b memory) stackLength(x val, pos plan.Pos) val {
	return stackView(b.present(x, "a stack", pos), "len", pos)
}

// stackAttr is what a stack, or a frame of it, has behind a dot.
func (b memory) stackAttr(x val, name string, pos plan.Pos) (v val, ok bool) {
	label := x.expr.Type.Label
	var n int64
	if _, err := fmt.Sscanf(label, "frame:%d", &n); err == nil {
		if frame, _ := attrs.Of("frame"); slices.Contains(frame, name) {
			return stackView(b.present(x, "a frame", pos), fmt.Sprint("frame.", name, ":", n), pos), true
		}
		return val{}, false
	}
	if label != "" {
		notView(x.expr.Type, pos)
	}
	if names, _ := attrs.Of("stack"); label == "" && slices.Contains(names, name) {
		refuse(pos, "a stack has .%s() in user space only, which reads its addresses", name)
	}
	return val{}, false
}

func stackView(s *tree.Expr, label string, pos plan.Pos) val {
	return exprVal(as(s, types.Type{Kind: types.Stack, Label: label}, pos))
}
