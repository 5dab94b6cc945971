package opt

import "github.com/startrace/startrace/bpfgen/ir"

// subst maps values to what replaces them.
type subst struct {
	to      []*ir.Value // by number
	changed bool
}

func newSubst(f *ir.Func) *subst { return &subst{to: make([]*ir.Value, f.NumValues())} }

// replace makes all uses of v uses of w.
func (s *subst) replace(v, w *ir.Value) {
	s.to[v.ID] = w
	s.changed = true
}

// get follows replacements from v. Values made after the subst have none.
func (s *subst) get(v *ir.Value) *ir.Value {
	for v.ID < len(s.to) && s.to[v.ID] != nil {
		v = s.to[v.ID]
	}
	return v
}

// operands replaces in the operands of v.
func (s *subst) operands(v *ir.Value) {
	for i, a := range v.Args {
		v.Args[i] = s.get(a)
	}
}

// term replaces in a terminator.
func (s *subst) term(t *ir.Term) {
	for at := range t.Operands() {
		*at = s.get(*at)
	}
}

// apply replaces in all of f.
func (s *subst) apply(f *ir.Func) {
	if !s.changed {
		return
	}
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			s.operands(v)
		}
		s.term(&b.Term)
	}
}

// forget drops the replaced values from the blocks.
func (s *subst) forget(f *ir.Func) {
	for _, b := range f.Blocks {
		kept := b.Values[:0]
		for _, v := range b.Values {
			if v.ID >= len(s.to) || s.to[v.ID] == nil {
				kept = append(kept, v)
			}
		}
		clear(b.Values[len(kept):])
		b.Values = kept
	}
}
