package infer

import (
	"fmt"

	"github.com/startrace/startrace/internal/plan"
)

// e.args[n] at points of which some have fewer arguments: it is None there.
//
// An argument that only some of the matched points have is None at the others, by its name (probe.someArgs) and by its
// number.

// missing is e.args[n] at a point that has fewer.
func (a *argsObj) missing(n int64, pos plan.Pos) val {
	pr := a.ev.b.pr
	most := pr.mostArgs()
	switch {
	case n >= 0 && n < int64(most):
		if f, is := a.ev.args.(*funcArgs); is && f.f.User { // a handler asks e.func, which does not fold
			return exprVal(absentInt(pos))
		}
		return missingAt(a.ev.point, fmt.Sprintf("e.args[%d]", n))
	case most == 0:
		wrong(pos, "%s has no arguments", a.ev.point)
	case pr.several(): // one message for all of them
		wrong(pos, "no point of %s has an argument %d: the last that one has is e.args[%d]", pr.p.Name, n, most-1)
	}
	wrong(pos, "%s has no argument %d: the last is e.args[%d]", a.ev.point, n, most-1)
	return val{}
}

// mostArgs is the greatest number of arguments that a point of the probe has.
func (pr *probe) mostArgs() (most int) {
	for _, t := range pr.targets {
		most = max(most, t.ArgCount(pr.u.facts))
	}
	return most
}
