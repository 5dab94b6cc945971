package tree

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/types"
)

// What the instructions of a block depend on, so that equal blocks share them.

// Key describes all of b that the instructions for it depend on, but for the
// numbers of its variables and for constants that a variable can stand for. So two
// bodies of one key are the same but for these. locals and consts are the variables
// and the constants in the order in which they occur: the first of one body stands
// where the first of another does.
func (b *Block) Key() (text string, locals []int64, consts []*Expr) {
	p := &printer{names: &names{}}
	p.block(b)
	return p.b.String(), p.names.locals, p.names.consts
}

// names numbers what occurs; nil leaves numbers as they are.
type names struct {
	locals, inlines []int64
	consts          []*Expr
	literal         bool // constants must be what they are: bounds of loops, of strings
}

// constant notes an int that a variable can stand for.
func (n *names) constant(e *Expr) bool {
	if n == nil || n.literal || e.Type.Kind != types.Int {
		return false
	}
	n.consts = append(n.consts, e)
	return true
}

// literally runs f for what must be constant.
func (n *names) literally(f func()) {
	if n == nil {
		f()
		return
	}
	saved := n.literal
	n.literal = true
	f()
	n.literal = saved
}

func (n *names) local(id int64) int64 {
	if n == nil {
		return id
	}
	return number(&n.locals, id)
}

func (n *names) inline(id int64) int64 {
	if n == nil {
		return id
	}
	return number(&n.inlines, id)
}

func number(list *[]int64, id int64) int64 {
	i := slices.Index(*list, id)
	if i < 0 {
		i = len(*list)
		*list = append(*list, id)
	}
	return int64(i)
}
