package regalloc

import (
	"github.com/startrace/startrace/bpfgen/ir"
)

// Which values are needed where, and how far away their next use is.

// The length that an edge adds to the distance of uses behind it.
const (
	distLikely   = 1
	distUnknown  = 10
	distUnlikely = 100
)

func edgeDist(t *ir.Term, i int) int {
	switch {
	case len(t.To) == 1 || int(t.Likely) == i+1:
		return distLikely
	case t.Likely == 0:
		return distUnknown
	}
	return distUnlikely
}

// analyse makes the flow of a function.
func analyse(f *ir.Func) flow {
	nb, nv := f.NumBlocks(), f.NumValues()
	s := flow{
		f: f, order: f.Order(), place: make([]int, nb), freq: make([]float64, nb),
		used: make([]bool, nv), crosses: make([]bool, nv),
		liveIn: make([][]liveValue, nb), liveOut: make([][]liveValue, nb), callInLoop: make([]bool, nb),
	}
	for i, b := range s.order {
		s.place[b.ID] = i
	}
	s.preds = f.Preds(s.order)
	s.findEntry()
	s.findStackAddrs()
	s.computeUsed()
	s.computeFreq()
	s.findLoops()
	s.computeLive()
	return s
}

// operands calls do for each operand of v that needs a register.
func (s *flow) operands(v *ir.Value, do func(i int, a *ir.Value)) {
	for i, a := range v.Args {
		if !Folded(v, i) {
			do(i, s.canon(a))
		}
	}
}

// termOperands is the same for a terminator without its edges.
func (s *flow) termOperands(t *ir.Term, do func(a *ir.Value)) {
	if t.X != nil {
		do(s.canon(t.X))
	}
	if !FoldedY(t) {
		do(s.canon(t.Y))
	}
}

// liveSet is a set of live values under construction.
type liveSet struct {
	index []int // by value: place in list + 1
	list  []liveValue
}

func (l *liveSet) reset(n int) {
	if l.index == nil {
		l.index = make([]int, n)
	}
	for _, x := range l.list {
		l.index[x.v.ID] = 0
	}
	l.list = l.list[:0]
}

// add makes v live at distance d; an entry there keeps the shorter one.
func (l *liveSet) add(v *ir.Value, d int) bool {
	if i := l.index[v.ID]; i != 0 {
		if l.list[i-1].dist <= d {
			return false
		}
		l.list[i-1].dist = d
		return true
	}
	l.list = append(l.list, liveValue{v, d})
	l.index[v.ID] = len(l.list)
	return true
}

// set makes v live at distance d, whatever was there.
func (l *liveSet) set(v *ir.Value, d int) {
	if i := l.index[v.ID]; i != 0 {
		l.list[i-1].dist = d
		return
	}
	l.add(v, d)
}

func (l *liveSet) remove(v *ir.Value) {
	i := l.index[v.ID]
	if i == 0 {
		return
	}
	last := l.list[len(l.list)-1]
	l.list[i-1] = last
	l.index[last.v.ID] = i
	l.list = l.list[:len(l.list)-1]
	l.index[v.ID] = 0
}

// computeLive fills liveIn, liveOut and crosses.
func (s *flow) computeLive() {
	var l liveSet
	for changed := true; changed; {
		changed = false
		for i := len(s.order) - 1; i >= 0; i-- {
			b := s.order[i]
			l.reset(s.f.NumValues())
			s.liveAtEnd(b, &l)
			s.liveOut[b.ID] = append(s.liveOut[b.ID][:0], l.list...)
			s.liveThrough(b, &l)
			changed = changed || !sameLive(s.liveIn[b.ID], l.list)
			s.liveIn[b.ID] = append(s.liveIn[b.ID][:0], l.list...)
		}
	}
}

// sameLive compares a set of one round with that of the next: both grow and
// distances only shrink.
func sameLive(a, b []liveValue) bool {
	if len(a) != len(b) {
		return false
	}
	sumA, sumB := 0, 0
	for i := range a {
		sumA += a[i].dist
		sumB += b[i].dist
	}
	return sumA == sumB
}

// farUse is the distance from which on what is made at its uses is not live for one of them: it would be made anew
// there in any case. Constants that a long list has here and there would else be live in all of its blocks.
const farUse = 1 << 13

// liveAtEnd adds what is live on the edges from b, distances from the end of
// the terminator. Parameters of targets count as uses of what the edge brings.
func (s *flow) liveAtEnd(b *ir.Block, l *liveSet) {
	for i := range b.Term.To {
		e := &b.Term.To[i]
		d := edgeDist(&b.Term, i)
		for _, x := range s.liveIn[e.Block.ID] {
			if (x.v.Op != ir.OpParam || x.v.Block != e.Block) && !(isMade(x.v) && x.dist+d > farUse) {
				l.add(x.v, x.dist+d)
			}
		}
		for k, p := range e.Block.Params {
			if s.used[p.ID] {
				l.add(s.canon(e.Args[k]), d)
			}
		}
	}
}

// liveThrough takes l from the end of b to its start. The parameters of b
// that are used stay in the set.
func (s *flow) liveThrough(b *ir.Block, l *liveSet) {
	n := len(b.Values)
	for i := range l.list {
		l.list[i].dist += n + 1
	}
	s.termOperands(&b.Term, func(a *ir.Value) { l.set(a, n) })
	for i := n - 1; i >= 0; i-- {
		v := b.Values[i]
		if !isGiven(v) {
			l.remove(v)
		}
		if s.skipped(v) {
			continue
		}
		if v.Op == ir.OpCall {
			s.noteCrossing(v, l)
		}
		s.operands(v, func(_ int, a *ir.Value) { l.set(a, i) })
	}
}

// noteCrossing marks what is live behind a call.
func (s *flow) noteCrossing(call *ir.Value, l *liveSet) {
	for _, x := range l.list {
		if x.v != call && !isMade(x.v) {
			s.crosses[x.v.ID] = true
		}
	}
}

// computeUsed marks the values that something needs in a register: operands
// of what has an effect, of terminators, and of what is used itself.
func (s *flow) computeUsed() {
	var work []*ir.Value
	mark := func(a *ir.Value) {
		if !s.used[a.ID] {
			s.used[a.ID] = true
			work = append(work, a)
		}
	}
	for _, b := range s.order {
		for _, v := range b.Values {
			if v.Op.HasEffect() {
				s.operands(v, func(_ int, a *ir.Value) { mark(a) })
			}
		}
		s.termOperands(&b.Term, mark)
	}
	for len(work) > 0 {
		v := work[len(work)-1]
		work = work[:len(work)-1]
		if v.Op != ir.OpParam {
			s.operands(v, func(_ int, a *ir.Value) { mark(a) })
			continue
		}
		for k, p := range v.Block.Params {
			if p != v {
				continue
			}
			for _, pred := range s.preds[v.Block.ID] {
				mark(s.canon(pred.Edge().Args[k]))
			}
		}
	}
}

// skipped reports whether v needs no step where it stands: nothing uses it,
// it is made at its uses, or it is there from the start.
func (s *flow) skipped(v *ir.Value) bool {
	return isGiven(v) || isMade(v) || !s.used[v.ID] && !v.Op.HasEffect()
}
