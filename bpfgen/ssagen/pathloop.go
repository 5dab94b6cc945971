package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/types"
)

// The steps of path() by bpf_loop.
//
// Where the kernel has bpf_loop it runs the steps of a path, and its verifier follows a few of them in place of all 80.
// The step is a function, one for all paths of a program that are alike. It is given the address of the walk's buffer;
// the other memory of the walk lies at fixed distances from there.

// Why a walk has ended (walkLeft).
const (
	leftOnWay = iota // not yet
	leftRooted
	leftFull
	leftFault
)

// A stepKey is what the step of a walk depends on.
type stepKey struct {
	// mounts: the walk leaves mounts.
	mounts bool
	// end is pathWalk.end.
	end int64
	// state, dent and mnt are where that memory begins, from the buffer on.
	state, dent, mnt int64
}

// key is the key of w's step.
func (w *pathWalk) key() stepKey {
	return stepKey{w.mounts(), w.end, w.state.off - w.buf.off, w.dent.m.off - w.buf.off, w.mnt.m.off - w.buf.off}
}

// climbByKernel has the kernel take the steps of w. What follows is where they were not enough.
func (b paths) climbByKernel(w *pathWalk) {
	sub := b.steps[w.key()]
	if sub == nil {
		sub = b.pathStep(w)
		if b.steps == nil {
			b.steps = map[stepKey]*subprogram{}
		}
		b.steps[w.key()] = sub
		b.reports = append(b.reports, Call{Name: loopName, Pos: b.Pos, Times: 1, Sub: sub.f.Name, Rounds: maxSteps})
	}
	w.set(walkLeft, b.Const(leftOnWay))
	lists(b).callRounds(sub, maxSteps, b.addr(w.buf, 0))
	left := w.get(walkLeft)
	for _, way := range w.ways() {
		b.unless(ir.EQ, left, way.why, func() { b.jump(*way.to) })
	}
}

// A wayOut is one of the places where the steps of a walk end.
type wayOut struct {
	why int64
	to  **join
}

func (w *pathWalk) ways() []wayOut {
	return []wayOut{{leftRooted, &w.rooted}, {leftFull, &w.full}, {leftFault, &w.fault}}
}

// pathStep is the function that the kernel calls for each step of w. It gives 0 to go on and 1 where the walk ends.
func (b paths) pathStep(w *pathWalk) *subprogram {
	f, _, words := lists(b).perString("path")
	buf := f.Load(8, words, 0)
	step := *w
	step.b = f.code
	step.addr = func(r *region, off int64) *ir.Value { return f.Add(buf, r.off-w.buf.off+off) }
	for _, way := range step.ways() {
		*way.to = f.newJoin(types.Type{})
	}
	step.step()
	f.Ret(nil)
	for _, way := range step.ways() {
		f.enter(*way.to)
		step.set(walkLeft, f.Const(way.why))
		f.Ret(f.Const(1))
	}
	return perStringMade(f)
}
