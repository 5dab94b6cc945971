package tree

import "slices"

// Key describes all of b that the instructions for it depend on, but for the
// numbers of its variables: two bodies of one key do the same with other
// variables. locals are these in the order in which they occur, so that those of
// one body and of another stand for each other.
func (b *Block) Key() (text string, locals []int64) {
	p := &printer{names: &names{}}
	p.block(b)
	return p.b.String(), p.names.locals
}

// names numbers what occurs; nil leaves numbers as they are.
type names struct{ locals, inlines []int64 }

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
