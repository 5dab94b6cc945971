package ir

// CountUses counts for each value number the operands that it is, of
// instructions, terminators and edges.
func (f *Func) CountUses() []int {
	uses := make([]int, f.NumValues())
	count := func(v *Value) {
		if v != nil {
			uses[v.ID]++
		}
	}
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			for _, a := range v.Args {
				count(a)
			}
		}
		count(b.Term.X)
		count(b.Term.Y)
		for _, e := range b.Term.To {
			for _, a := range e.Args {
				count(a)
			}
		}
	}
	return uses
}
