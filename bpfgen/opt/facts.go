package opt

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
)

// The pass facts: branches that an earlier branch has decided.

// facts decides branches whose condition a dominating branch has decided.
func facts(f *ir.Func) bool {
	order := f.Order()
	if !comparedTwice(f, order) {
		return false
	}
	dom := f.Dominators(order)
	preds := f.Preds(order)
	known := knownFacts{by: map[factKey][]fact{}}
	changed := false
	for _, b := range dom.DepthFirst() { // what dominates a block was just before it
		for len(known.path) > 0 && !dom.Dominates(known.path[len(known.path)-1].block, b) {
			known.leave()
		}
		if k, ok := entryFact(b, preds[b.ID]); ok {
			known.enter(b, k)
		}
		if b.Term.Kind != ir.Branch {
			continue
		}
		if holds, ok := known.decide(&b.Term); ok {
			decideIf(&b.Term, holds)
			changed = true
		}
	}
	return changed
}

// comparedTwice reports whether branches compare a value more than once: few functions have such, and without there is
// nothing to decide.
func comparedTwice(f *ir.Func, order []*ir.Block) bool {
	compared := make([]bool, f.NumValues())
	for _, b := range order {
		if b.Term.Kind != ir.Branch {
			continue
		}
		if compared[b.Term.X.ID] {
			return true
		}
		compared[b.Term.X.ID] = true
	}
	return false
}

// knownFacts are those that hold at a place: of the blocks that dominate it.
type knownFacts struct {
	path []factAt
	by   map[factKey][]fact
}

type factAt struct {
	block *ir.Block
	fact  fact
}

// A factKey is what facts are found by: both sides of a comparison, and for a
// constant its value. A constant that is equal decides all comparisons with others.
type factKey struct {
	x, y  *ir.Value
	imm   int64
	equal bool
}

func (k fact) key() factKey {
	if k.cond == ir.EQ && k.y == nil {
		return factKey{x: k.x, equal: true}
	}
	return factKey{x: k.x, y: k.y, imm: k.imm}
}

func (n *knownFacts) enter(b *ir.Block, k fact) {
	n.path = append(n.path, factAt{b, k})
	n.by[k.key()] = append(n.by[k.key()], k)
}

func (n *knownFacts) leave() {
	last := len(n.path) - 1
	key := n.path[last].fact.key()
	n.by[key] = n.by[key][:len(n.by[key])-1]
	n.path = n.path[:last]
}

// decide says whether the condition of t holds, where that is known. Few facts have
// one key: each condition once.
func (n *knownFacts) decide(t *ir.Term) (holds, known bool) {
	for _, key := range []factKey{{x: t.X, y: t.Y, equal: true}, {x: t.X, y: t.Y, imm: t.Imm}} {
		for _, k := range slices.Backward(n.by[key]) {
			if holds, known = k.decides(t); known {
				return holds, true
			}
		}
	}
	return false, false
}

// A fact is a condition that holds in a block and all that it dominates.
type fact struct {
	cond ir.Cond
	x, y *ir.Value
	imm  int64
}

// entryFact gives what is known because b was reached, by its only edge.
func entryFact(b *ir.Block, preds []ir.Pred) (fact, bool) {
	if len(preds) != 1 || preds[0].Block.Term.Kind != ir.Branch {
		return fact{}, false
	}
	t := &preds[0].Block.Term
	k, ok := fact{t.Cond, t.X, t.Y, t.Imm}, true
	if preds[0].Index == 1 {
		k.cond, ok = t.Cond.Negate()
	}
	return k, ok
}

// decides says whether the condition of t holds, where that is known.
func (k fact) decides(t *ir.Term) (holds, known bool) {
	if t.X != k.x || t.Y != k.y {
		return false, false
	}
	if k.cond == ir.EQ && k.y == nil {
		return t.Cond.Holds(k.imm, t.Imm), true
	}
	if t.Imm != k.imm {
		return false, false
	}
	if t.Cond == k.cond {
		return true, true
	}
	neg, ok := t.Cond.Negate()
	return false, ok && neg == k.cond
}
