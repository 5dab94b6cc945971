package opt

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// The pass dead: blocks, values and parameters that nothing needs are removed.

// dead removes blocks that cannot be reached, and values and parameters that
// no effect and no branch needs.
func dead(f *ir.Func) bool {
	blocks := len(f.Blocks)
	order := f.Prune()
	changed := len(order) != blocks
	preds := f.Preds(order)
	used := usedValues(f, order, preds)
	changed = dropParams(f, used, preds) || changed
	for _, b := range f.Blocks {
		values := b.Values[:0]
		for _, v := range b.Values {
			if used[v.ID] {
				values = append(values, v)
			}
		}
		changed = changed || len(values) != len(b.Values)
		clear(b.Values[len(values):])
		b.Values = values
	}
	return changed
}

// dropParams removes the parameters that are not used, and what edges bring
// for them.
func dropParams(f *ir.Func, used []bool, preds [][]ir.Pred) bool {
	changed := false
	for _, b := range f.Blocks {
		for k := len(b.Params) - 1; k >= 0; k-- {
			if !used[b.Params[k].ID] {
				removeParam(b, k, preds[b.ID])
				changed = true
			}
		}
	}
	return changed
}

// usedValues marks what an effect or a terminator needs, by value.
func usedValues(f *ir.Func, order []*ir.Block, preds [][]ir.Pred) []bool {
	used := make([]bool, f.NumValues())
	var work []*ir.Value
	mark := func(v *ir.Value) {
		if v != nil && !used[v.ID] {
			used[v.ID] = true
			work = append(work, v)
		}
	}
	for _, b := range order {
		for _, v := range b.Values {
			if hasEffect(v) {
				mark(v)
			}
		}
		mark(b.Term.X)
		mark(b.Term.Y)
	}
	for len(work) > 0 {
		v := work[len(work)-1]
		work = work[:len(work)-1]
		for _, a := range v.Args {
			mark(a)
		}
		if v.Op == ir.OpParam {
			k := slices.Index(v.Block.Params, v)
			for _, p := range preds[v.Block.ID] {
				mark(p.Edge().Args[k])
			}
		}
	}
	return used
}
