package infer

import (
	"fmt"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/internal/plan"
)

// Warnings of comparisons that come out the same at all times, `they are never equal`, at all points of a probe.
//
// A comparison is walked for each point of its probe, with the types that its operands have there. The author is warned
// only if it comes out the same wherever it is walked: `e.what == "start"` is no mistake if the event has another text
// at another point, and `k == n` none in one round of a loop over constants that is written out.

// A comparison is one of a script, as the walks for all points of a probe find it.
type comparison struct {
	probe int
	pos   plan.Pos
	// constant is what is compared, if it is a string or an int that is known: `x in ("a", "b")` has a comparison with
	// each of them at one place.
	constant string
}

// A constantWarning is the warning of a comparison.
type constantWarning struct {
	refusal.Diag
	// of is the comparison. It is the zero value until the walk of the comparison ends.
	of comparison
}

// warnAlways warns of the comparison that is walked, which comes out the same at all times at this point.
func (m *messages) warnAlways(pos plan.Pos, format string, args ...any) {
	m.always = append(m.always, constantWarning{Diag: refusal.Diag{Pos: pos, Msg: fmt.Sprintf(format, args...)}})
}

// compares is constantTexts of a comparison that is alone at its place. In a loop that is written out the rounds have
// other constants, and the comparison is one.
func (b operators) compares(x, y val) (texts [2]string) {
	if b.writing {
		return texts
	}
	return constantTexts(x, y)
}

// constantTexts are the constants that are compared, as texts.
func constantTexts(x, y val) [2]string { return [2]string{constantText(y), constantText(x)} }

// atThisPoint ends the walk of a comparison with constants. said is the number of such warnings before it. Without a
// new one, and if it is one that may hold, nobody is warned of it at other points.
func (b operators) atThisPoint(said int, mayHold bool, constants [2]string, pos plan.Pos) {
	if len(b.u.always) > said {
		of := comparison{b.u.probe, pos, constants[0]}
		if of.constant == "" {
			of.constant = constants[1]
		}
		for i := range b.u.always[said:] {
			if w := &b.u.always[said+i]; w.of == (comparison{}) {
				w.of = of
			}
		}
		return
	}
	if !mayHold {
		return
	}
	for _, c := range append(constants[:], "") {
		b.u.open.Set(comparison{b.u.probe, pos, c}, true)
	}
}

// foldedTo notes the comparison of two constants, which comes out as v at this point.
func (b operators) foldedTo(op syntax.Token, v, x, y val, pos plan.Pos) {
	switch op {
	case syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		b.atThisPoint(len(b.u.always), true, b.compares(x, y), pos)
	case syntax.EQL, syntax.NEQ:
		b.atThisPoint(len(b.u.always), v.c == plan.Bool(op == syntax.EQL), b.compares(x, y), pos)
	}
}

// constantText is the text of a string or an int that is known, else "".
func constantText(v val) string {
	if s, ok := v.constStr(); ok {
		return fmt.Sprintf("%q", s)
	}
	if n, ok := v.constInt(); ok {
		return fmt.Sprint(n)
	}
	return ""
}

// warnings are all warnings for the script's author, in the order of places.
func (m *messages) warnings() refusal.Diags {
	for _, w := range m.always {
		if !m.open.At(w.of) {
			m.warns = append(m.warns, w.Diag)
		}
	}
	return m.warns.Sorted()
}
