package points

import (
	"github.com/startrace/startrace/internal/binary"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/plan"
)

// The note about functions that begin with the head of a loop, where each turn counts as a call.

// tellTurns tells of functions whose first instruction is the head of a loop, where a turn counts as a call. A span
// tells them apart by the return address, which the kernel has replaced at the first one. Where it does not replace
// them, that is so for one function that is named alone.
func tellTurns(s search, p *plan.Pattern, list []binary.Function, at *binary.File) {
	n, first := 0, ""
	copies, inlined := 0, ""
	for _, fn := range list {
		switch {
		case fn.Turns && fn.Copy != nil:
			copies, inlined = copies+1, fn.Name
		case fn.Turns:
			if n++; n == 1 {
				first = fn.Name
			}
		}
	}
	if copies > 0 {
		s.warnf(p.Pos, "%s: %s of %s begins with the head of a loop: each turn counts as a call", p.Text,
			format.Count(copies, "inlined copy"), inlined)
	}
	if n == 0 {
		return
	}
	what := p.Text + ": " + first + " begins with the head of a loop" + others(n)
	switch kind, replaces := kindOf(p), at.NoReturnProbes == ""; {
	case !kind.Has("ret"):
		s.warnf(p.Pos, "%s: each turn counts as a call; ufunc: counts the calls alone", what)
	case !kind.Has("duration") && replaces:
		s.warnf(p.Pos, "%s: turns count as returns; ufunc: counts the calls alone", what)
	case kind.Has("duration") && !replaces && len(list) > 1:
		s.warnf(p.Pos, "%s: each turn counts as a call; where one function is named alone, its calls count alone", what)
	}
}

// others says how many more there are than one.
func others(n int) string {
	switch n {
	case 1:
		return ""
	case 2:
		return ", and so does another function"
	}
	return ", and so do " + format.Count(n-1, "other function")
}
