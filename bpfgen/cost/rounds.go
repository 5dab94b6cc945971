package cost

import "github.com/startrace/startrace/bpfgen/ir"

// How many rounds a loop of a program runs at most, read from the number that counts them.
//
// How many rounds a loop runs is read from a number that the loop is given
// anew in each round, a parameter of its head. There are two kinds of loops.
//
// One counts. The number begins with a constant, and grows by the same in each
// round. A test that no round gets around leaves the loop once the number has
// come to a limit:
//
//	b1(v2):                         v2 begins with 0
//	  br uge v2, 20 -> b9, b2       20 rounds
//	  …
//	  v5 = add v2, 1
//	  jump b1(v5)
//
// It may do something else at one number, and go on with the next one (br eq
// v2, 7 -> b5 …, where b5 ends in jump b1(8)). Such a round needs no test,
// because there is only one of it.
//
// The other tries something twice. A bit of the number is set when a round
// ends, and a round that finds it set leaves the loop.

// A loop with what rounds of it need.
type loop struct {
	head *ir.Block
	// blocks are those of the loop in their order, inside the same as a set.
	blocks []*ir.Block
	inside map[*ir.Block]bool
	// in are the edges that lead into the loop, back those that begin another round.
	in, back []ir.Pred
	preds    [][]ir.Pred
	doms     *ir.DomTree
}

func newLoop(l ir.Loop, order []*ir.Block, doms *ir.DomTree) *loop {
	f := l.Head.Func
	out := &loop{head: l.Head, blocks: l.Blocks, inside: map[*ir.Block]bool{}, preds: f.Preds(order), doms: doms}
	for _, b := range l.Blocks {
		out.inside[b] = true
	}
	for _, p := range out.preds[l.Head.ID] {
		if out.inside[p.Block] {
			out.back = append(out.back, p)
		} else {
			out.in = append(out.in, p)
		}
	}
	return out
}

// rounds says how many rounds the loop runs at most, the one not counted in
// which it is left; of several numbers that end it, by the one that does so
// first.
func (l *loop) rounds() (rounds int64, ok bool) {
	for i := range l.head.Params {
		for _, known := range []func(int) (int64, bool){l.counted, l.tried} {
			if n, is := known(i); is && (!ok || n < rounds) {
				rounds, ok = n, true
			}
		}
	}
	return rounds, ok
}

// counted is the number of rounds by parameter i of the head, if that counts.
func (l *loop) counted(i int) (rounds int64, ok bool) {
	begin, ok := l.begin(i)
	if !ok {
		return 0, false
	}
	param := l.head.Params[i]
	step, single, steady := l.growth(i)
	if len(steady) == 0 {
		return 0, false
	}
	found := false
	for _, b := range l.blocks {
		limit, tested := l.limit(b, param)
		if !tested || !l.inEach(b, steady) {
			continue
		}
		if n := max(limit-begin+step-1, 0)/step + int64(single); !found || n < rounds {
			rounds, found = n, true
		}
	}
	return rounds, found
}

// begin is the constant with which parameter i begins.
func (l *loop) begin(i int) (begin int64, ok bool) {
	for n, p := range l.in {
		v := p.Edge().Args[i]
		if v.Op != ir.OpConst || n > 0 && v.Imm != begin {
			return 0, false
		}
		begin = v.Imm
	}
	return begin, len(l.in) > 0 && begin >= 0
}

// growth says by how much parameter i grows in each round. steady are the edges
// on which it does, single is how many others there are, each of which can be
// taken once, at one number, and gives the next one. There are no steady ones
// where it does something else.
func (l *loop) growth(i int) (step int64, single int, steady []ir.Pred) {
	param := l.head.Params[i]
	for _, p := range l.back {
		v := p.Edge().Args[i]
		switch {
		case v.Op == ir.OpConst && l.only(p.Block, param, v.Imm-1):
			single++
		case plus(v, param) && v.Imm > 0 && (len(steady) == 0 || v.Imm == step):
			step, steady = v.Imm, append(steady, p)
		default:
			return 0, 0, nil
		}
	}
	if single > 0 && step != 1 {
		return 0, 0, nil
	}
	return step, single, steady
}

// only reports whether b is reached only in rounds in which the parameter is n.
func (l *loop) only(b *ir.Block, param *ir.Value, n int64) bool {
	for _, test := range l.blocks {
		t := &test.Term
		if t.Kind != ir.Branch || t.Cond != ir.EQ || t.X != param || t.Y != nil || t.Imm != n {
			continue
		}
		then := t.To[0].Block
		if then != t.To[1].Block && l.doms.Dominates(then, b) && l.onlyFrom(then, test) {
			return true
		}
	}
	return false
}

// onlyFrom reports whether b is reached only from one block, and from blocks
// behind itself.
func (l *loop) onlyFrom(b, from *ir.Block) bool {
	for _, p := range l.preds[b.ID] {
		if p.Block != from && !l.doms.Dominates(b, p.Block) {
			return false
		}
	}
	return true
}

// limit reports whether b leaves the loop as soon as the counter is limit or
// more. The counter may have grown before it is tested; then the loop is left
// earlier.
func (l *loop) limit(b *ir.Block, param *ir.Value) (limit int64, ok bool) {
	t := &b.Term
	if t.Kind != ir.Branch || t.Y != nil && t.Y.Op != ir.OpConst || t.X != param && !plus(t.X, param) {
		return 0, false
	}
	limit = t.Imm
	if t.Y != nil {
		limit = t.Y.Imm
	}
	cond, leaves := t.Cond, !l.inside[t.To[0].Block]
	switch {
	case limit < 0, leaves == !l.inside[t.To[1].Block]:
		return 0, false
	case leaves:
		ok = true
	default: // it stays while the condition holds
		cond, ok = cond.Negate()
	}
	switch cond {
	case ir.UGE, ir.SGE:
		return limit, ok
	case ir.UGT, ir.SGT:
		return add(limit, 1), ok
	}
	return 0, false
}

// plus reports whether x is the parameter and a constant that is not negative.
func plus(x, param *ir.Value) bool {
	return x.Op == ir.OpAdd && len(x.Args) == 1 && x.Args[0] == param && x.Imm >= 0
}

// inEach reports whether no round that ends with one of the edges gets around b.
func (l *loop) inEach(b *ir.Block, edges []ir.Pred) bool {
	for _, p := range edges {
		if !l.doms.Dominates(b, p.Block) {
			return false
		}
	}
	return true
}

// tried is 1 if a bit of parameter i of the head is set when a round ends, and
// a round that finds it leaves the loop.
func (l *loop) tried(i int) (rounds int64, ok bool) {
	bits := int64(-1)
	for _, p := range l.back {
		v := p.Edge().Args[i]
		if v.Op != ir.OpOr || len(v.Args) != 1 {
			return 0, false
		}
		bits &= v.Imm
	}
	for _, b := range l.blocks {
		t := &b.Term
		tests := t.Kind == ir.Branch && t.Cond == ir.SET && t.X == l.head.Params[i] && t.Y == nil && t.Imm&bits != 0
		if tests && !l.inside[t.To[0].Block] && l.inEach(b, l.back) {
			return 1, true
		}
	}
	return 0, false
}
