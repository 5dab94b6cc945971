package ssagen

import (
	"math"
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
)

// How many branches and instructions of a loop the verifier follows (`maxKeptWays`, `maxFollowed`).

// How far the verifier follows a loop.
//
// It walks every iteration. At each branch that it cannot decide it keeps the
// other way for later, and it goes on to the end before it comes back: it
// gives up when 8,192 are kept (BPF_COMPLEXITY_LIMIT_JMP_SEQ), or after a
// million instructions (BPF_COMPLEXITY_LIMIT_INSNS; kernel/bpf/verifier.c). A
// loop over a range that the script computes ends by itself, its bound is only
// for the verifier: it is made as low as the branches and instructions of the
// body want it. A part of both is left for what stands beside the loop.
const (
	maxKeptWays  = 7000
	maxFollowed  = 700_000
	minBound     = 16
	halfBound    = 64 // what a loop inside leaves for a computed one around it
	macroInsns   = 25 // of what lower expands, about
	insnsOfValue = 2  // about, with moves
)

func (c bodyCost) plus(d bodyCost) bodyCost {
	return bodyCost{c.ways + d.ways, c.insns + d.insns, c.asks || d.asks}
}

func (c bodyCost) times(n int64) bodyCost { return bodyCost{c.ways * n, c.insns * n, c.asks} }

// askedAgain is how many iterations there may be of which each makes the verifier follow the others.
func (c bodyCost) askedAgain(outer int64) int64 {
	return int64(math.Sqrt(2 * float64(maxFollowed/outer/max(c.insns, 1))))
}

// asksOuter reports whether one of the blocks of a body ends by a branch on a value that no iteration changes.
func (b loops) asksOuter(body []*ir.Block) bool {
	inside, known := map[*ir.Block]bool{}, map[*ir.Value]bool{}
	for _, x := range body {
		inside[x] = true
	}
	var fixed func(v *ir.Value) bool
	fixed = func(v *ir.Value) bool {
		if f, ok := known[v]; ok {
			return f
		}
		f := !inside[v.Block] || v.Op == ir.OpConst || v.Op.IsLoad() && v.Args[0].Op == ir.OpCtx
		if !f && len(v.Args) > 0 && !v.Op.HasEffect() && !v.Op.ReadsMemory() {
			f = !slices.ContainsFunc(v.Args, func(a *ir.Value) bool { return !fixed(a) })
		}
		known[v] = f
		return f
	}
	return slices.ContainsFunc(body, func(x *ir.Block) bool {
		t := &x.Term
		return b.CanReach(x) && t.Kind == ir.Branch && t.X.Op != ir.OpConst && fixed(t.X) && (t.Y == nil || fixed(t.Y))
	})
}

// costOf adds up blocks; inner is what loops among them cost beyond their
// first iteration, apart from loops over strings.
func (b loops) costOf(blocks []*ir.Block, inner bodyCost) bodyCost {
	c := inner
	for _, blk := range blocks {
		if b.CanReach(blk) {
			c = c.plus(b.costOfBlock(blk).times(max(1, b.turns[blk])))
		}
	}
	return c
}

func (b loops) costOfBlock(blk *ir.Block) bodyCost {
	c := bodyCost{insns: 1}
	if blk.Term.Kind == ir.Branch {
		c.ways++
	}
	for _, v := range blk.Values {
		switch {
		case v.Op.IsMacro():
			c.insns += macroInsns
		case v.Op == ir.OpCall && v.Sym != "":
			c = c.plus(subs(b).costOfSub(v.Sym))
		default:
			c.insns += insnsOfValue
		}
	}
	return c
}

// boundFor is how many iterations a loop may have, at most what the script or
// infer says; outer is how often loops around it repeat it.
func (c bodyCost) boundFor(s *tree.Stmt, most, outer int64) int64 {
	if !computed(s) {
		return most // all iterations are wanted
	}
	ways := maxKeptWays / outer / (c.ways + 1)
	insns := maxFollowed / outer / max(c.insns, 1)
	if c.asks {
		insns = min(insns, c.askedAgain(outer))
	}
	return min(most, max(minBound, min(ways, insns)))
}

// fewRounds: a computed loop of fewer iterations could end a handler that means
// no harm.
const fewRounds = 1024

// tooMuch reports whether the verifier would not follow a loop to the end of
// most iterations, behind loops that cost before, or a computed one only to few.
func (c bodyCost) tooMuch(s *tree.Stmt, most, outer int64, before bodyCost) bool {
	rounds := min(most, fewRounds)
	if !computed(s) {
		rounds = most
		if c.asks && most > c.askedAgain(outer) {
			return true
		}
	} else if c.boundFor(s, most, outer) < rounds {
		return true
	}
	all := before.plus(c.times(rounds * outer))
	return all.ways > maxKeptWays || all.insns > maxFollowed
}

// asked is the cost of a round with the question whether there is another one.
func (c bodyCost) asked() bodyCost { return bodyCost{c.ways + 1, c.insns, c.asks} }

// crowded reports whether the verifier would not follow n rounds of a computed loop behind others, that cost before.
func (c bodyCost) crowded(n int64, before bodyCost) bool {
	all := before.plus(c.asked().times(n))
	return all.ways > maxKeptWays || all.insns > maxFollowed
}

// costOfSub is what a call of a subprogram costs the verifier.
func (b subs) costOfSub(name string) bodyCost {
	i := slices.IndexFunc(b.called, func(s *subprogram) bool { return s.f.Name == name })
	return b.called[i].cost
}
