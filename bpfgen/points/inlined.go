package points

import (
	"strings"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/internal/binary"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/plan"
)

// Copies of functions that were inlined: which a pattern means, and messages about those left out.
//
// The compiler puts the code of a function into those that call it (inlines it), at some places or at all. Such a copy
// has a place at which it begins, and none at which it is certain to end.

// tellCopies tells how many copies that were inlined a pattern means, and how many are left out.
func tellCopies(s search, p *plan.Pattern, list []binary.Function, at *binary.File) {
	n := 0
	for _, fn := range list {
		if fn.Copy != nil {
			n++
		}
	}
	switch {
	case n > 0:
		s.notef(p.Pos, "%s: %s of their own and %s that were inlined", p.Text,
			format.Count(len(list)-n, "function"), copies(n))
	case at.Copies == 0:
	case kindOf(p).Has("ret"):
		s.warnf(p.Pos, "%s: calls of %s that were inlined are not seen, as they have no end: %s (%s); uprobe: has "+
			"their begins", p.Text, format.Count(len(at.Inlined), "function"), copies(at.Copies), someOf(at.Inlined))
	case !strings.Contains(p.Text, "+"):
		s.warnf(p.Pos, "%s: %s of functions that were inlined are left out, since a probe takes at most %d places: "+
			"narrow the pattern", p.Text, copies(at.Copies), maxFunctions)
	}
}

// tellLost tells that calls are not seen of which debug information would tell that is in files that are not known.
func tellLost(s search, p *plan.Pattern, u userPattern, at *binary.File) {
	switch {
	case at.Lost == "" || u.offset != 0:
	case u.source != "":
		s.warnf(p.Pos, "%s: functions of some source files of the program are not seen: %s", p.Text, at.Lost)
	case !kindOf(p).Has("ret"):
		s.warnf(p.Pos, "%s: calls that the compiler has inlined in some source files of the program are not seen: "+
			"%s", p.Text, at.Lost)
	}
}

func copies(n int) string {
	if n == 1 {
		return "1 copy"
	}
	return format.Count(n, "copie")
}

// someOf names the first of some functions.
func someOf(names []string) string {
	const most = 3
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// onlyInlined refuses calls and returns of functions that have no code of their own.
func onlyInlined(p *plan.Pattern, at *binary.File) {
	ends := "a call that was inlined has no end"
	if !kindOf(p).Has("ret") {
		ends = "it has no code of its own there"
	}
	refusal.Wrong(p.Pos, "%s: %s was inlined wherever it is called (%s), and %s: uprobe:%s probes where the copies "+
		"begin", p.Text, someOf(at.Inlined), copies(at.Copies), ends, strings.Join(p.Args, ":"))
}
