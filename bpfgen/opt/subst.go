package opt

import "github.com/startrace/startrace/bpfgen/ir"

// Replacement of values by others in a whole function.

// subst maps values to what replaces them.
type subst struct {
	f       *ir.Func
	to      []*ir.Value // by number; empty as long as nothing is replaced
	changed bool
}

func newSubst(f *ir.Func) *subst { return &subst{f: f} }

// replace makes all uses of v uses of w.
func (s *subst) replace(v, w *ir.Value) {
	if v.ID >= len(s.to) {
		s.to = append(s.to, make([]*ir.Value, s.f.NumValues()-len(s.to))...)
	}
	s.to[v.ID] = w
	s.changed = true
}

// get follows replacements from v.
func (s *subst) get(v *ir.Value) *ir.Value {
	for v.ID < len(s.to) && s.to[v.ID] != nil {
		v = s.to[v.ID]
	}
	return v
}

// operands replaces in the operands of v.
func (s *subst) operands(v *ir.Value) {
	if !s.changed {
		return
	}
	for i, a := range v.Args {
		v.Args[i] = s.get(a)
	}
}

// term replaces in a terminator.
func (s *subst) term(t *ir.Term) {
	if !s.changed {
		return
	}
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
	if !s.changed {
		return
	}
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
