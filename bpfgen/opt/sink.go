package opt

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// The pass sink: cheap values move down to their uses, behind branches and calls.

// sink moves cheap values down to their uses: behind branches that do not
// need them, and behind calls, across which they would occupy one of the four
// registers that survive a call. Only values of at most one operand that
// needs a register move: the operand lives longer, the value shorter.
func sink(f *ir.Func) bool {
	order := f.Order()
	s := &sinker{dom: f.Dominators(order), depth: f.LoopDepth(order), users: allUsers(f, order)}
	changed := false
	for _, b := range slices.Backward(order) {
		for i := len(b.Values) - 1; i >= 0; i-- {
			if v := b.Values[i]; sinks(v) && s.move(b, i, v) {
				changed = true
			}
		}
	}
	return changed
}

// A user is where a value is used: by an instruction, or by the end of a
// block where v is nil.
type user struct {
	b *ir.Block
	v *ir.Value
}

type sinker struct {
	dom   *ir.DomTree
	depth []int    // of loops, by block
	users [][]user // by value
}

// allUsers gives the uses of each value, by its number.
func allUsers(f *ir.Func, order []*ir.Block) [][]user {
	users := make([][]user, f.NumValues())
	count, total := make([]int32, f.NumValues()), 0
	for _, b := range order {
		for at := range b.Operands() {
			count[(*at).ID]++
			total++
		}
	}
	all := make([]user, total) // for all values: many small slices cost more than the rest of a pass
	for id, n := range count {
		users[id], all = all[:0:n], all[n:]
	}
	for _, b := range order {
		for _, v := range b.Values {
			for _, a := range v.Args {
				users[a.ID] = append(users[a.ID], user{b, v})
			}
		}
		for at := range b.Term.Operands() {
			id := (*at).ID
			users[id] = append(users[id], user{b, nil})
		}
	}
	return users
}

// sinks reports whether v may be computed at any later place, at no cost.
func sinks(v *ir.Value) bool {
	if isMade(v) || v.Op == ir.OpCtx || v.Op == ir.OpArg {
		return false // the register allocator makes them where they are used
	}
	if !isSteady(v) && (v.Op.HasEffect() || v.Op.ReadsMemory() || !v.Op.HasResult()) {
		return false
	}
	n := 0
	for _, a := range v.Args {
		if !isMade(a) {
			n++
		}
	}
	return n <= 1
}

// move takes v, instruction i of b, to where it is first needed.
func (s *sinker) move(b *ir.Block, i int, v *ir.Value) bool {
	users := s.users[v.ID]
	if len(users) == 0 {
		return false
	}
	first, last := users[0].b, users[0].b // in the tree: what dominates both dominates all between
	for _, u := range users[1:] {
		if s.dom.Compare(u.b, first) < 0 {
			first = u.b
		}
		if s.dom.Compare(u.b, last) > 0 {
			last = u.b
		}
	}
	at := s.dom.Meet(first, last)
	for s.depth[at.ID] > s.depth[b.ID] {
		at = s.dom.Idom(at)
	}
	to := s.firstUse(at, v)
	if at == b && !slices.ContainsFunc(b.Values[i+1:to], isCall) {
		return false
	}
	s.place(v, b, i, at, to)
	return true
}

func isCall(v *ir.Value) bool { return v.Op == ir.OpCall }

// firstUse is the place in b before which v is needed.
func (s *sinker) firstUse(b *ir.Block, v *ir.Value) int {
	for k, w := range b.Values {
		if slices.Contains(w.Args, v) {
			return k
		}
	}
	return len(b.Values)
}

// place moves v, instruction i of b, before instruction to of at; constants
// that are its operands and defined in b dominate at as well.
func (s *sinker) place(v *ir.Value, b *ir.Block, i int, at *ir.Block, to int) {
	b.Values = slices.Delete(b.Values, i, i+1)
	if at == b {
		to--
	}
	at.Values = slices.Insert(at.Values, to, v)
	v.Block = at
	for _, a := range v.Args {
		users := s.users[a.ID]
		for k := range users {
			if users[k].v == v {
				users[k].b = at
			}
		}
	}
}
