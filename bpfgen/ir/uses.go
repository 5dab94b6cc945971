package ir

import "iter"

// The operands of blocks and terminators, and how often each value is used.

// Operands yields the places where b names values: in its instructions, then
// in its terminator.
func (b *Block) Operands() iter.Seq[**Value] {
	return func(yield func(at **Value) bool) {
		for _, v := range b.Values {
			for i := range v.Args {
				if !yield(&v.Args[i]) {
					return
				}
			}
		}
		b.Term.Operands()(yield)
	}
}

// Operands yields the places where t names values, on its edges too.
func (t *Term) Operands() iter.Seq[**Value] {
	return func(yield func(at **Value) bool) {
		if t.X != nil && !yield(&t.X) || t.Y != nil && !yield(&t.Y) {
			return
		}
		for _, e := range t.To {
			for i := range e.Args {
				if !yield(&e.Args[i]) {
					return
				}
			}
		}
	}
}

// CountUses counts for each value number the operands that it is, of
// instructions, terminators and edges.
func (f *Func) CountUses() []int {
	uses := make([]int, f.NumValues())
	for _, b := range f.Blocks {
		for at := range b.Operands() {
			uses[(*at).ID]++
		}
	}
	return uses
}
