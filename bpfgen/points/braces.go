package points

import (
	"slices"
	"strings"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/point"
)

// Texts in the braces of a pattern that match nothing, as nope in `syscall:{read,nope}`: a warning names them.

// architectures are those whose system calls have names.
var architectures = []string{"amd64", "arm64"}

// maxTold is for how many texts in braces it is sought whether they match something.
const maxTold = 64

// tellUnmatched tells of texts in braces by which a pattern, which came to some points, matches none. Who writes
// texts out means each of them. The pattern is right all the same: such a text can be the name of another version. The
// library has many of these, of which nothing is said. Nor is anything said of names that other kernels have, as those
// of functions and tracepoints differ, and as machines of another architecture have other system calls.
func tellUnmatched(s search, p *plan.Pattern, found []*Target) {
	calls := slices.Contains(point.SystemCalls.Kinds, kindOf(p))
	if s.Late || plan.OfLibrary(p.Pos) || !calls && !inFile(p) {
		return
	}
	var without []string
	for _, one := range eachOfBraces(p) {
		if !matchesOne(one, found) && !finds(s, one) && !(calls && isCallElsewhere(one)) {
			without = append(without, one.Text)
		}
	}
	if len(without) > 0 {
		s.warnf(p.Pos, "%s: nothing matches %s", p.Text, strings.Join(without, ", "))
	}
}

// isCallElsewhere reports whether a machine of some architecture has a system call of such a name.
func isCallElsewhere(p *plan.Pattern) bool {
	name, err := naming.Compile(p.Args[len(p.Args)-1])
	named := func(sc kernel.Syscall) bool { return name.Match(sc.Name) }
	return err == nil && slices.ContainsFunc(architectures, func(arch string) bool {
		return slices.ContainsFunc(kernel.SyscallsFor(arch), named)
	})
}

// eachOfBraces gives the patterns that p is with one of the texts in some braces, nil where these are too many.
func eachOfBraces(p *plan.Pattern) (out []*plan.Pattern) {
	for i, field := range p.Args {
		if i == 0 && inFile(p) || strings.Contains(field, "(") { // a path, and names of C++, are no patterns
			continue
		}
		for _, text := range naming.EachOfBraces(field) {
			one := *p
			one.Args = slices.Clone(p.Args)
			one.Args[i] = text
			one.Text = one.Long()
			out = append(out, &one)
		}
	}
	if len(out) > maxTold {
		return nil
	}
	return out
}

// matchesOne reports whether a function or point that was found has a name that matches. Where none has, it may have
// been found by another name, as that of C libraries of a system call.
func matchesOne(p *plan.Pattern, found []*Target) bool {
	name, err := naming.Compile(p.Args[len(p.Args)-1])
	whole, err2 := naming.Compile(p.Text)
	if err != nil || err2 != nil {
		return true
	}
	for _, t := range found {
		if slices.ContainsFunc(t.Names(), whole.Match) {
			return true
		}
		for _, at := range t.Points() {
			if at.Func != "" && name.Match(at.Func) {
				return true
			}
		}
	}
	return false
}

// finds reports whether a pattern comes to points. What the search says of it is dropped.
func finds(s search, p *plan.Pattern) bool {
	s.Found = &Found{}
	return refusal.Attempt(func() { expanderOf(p).expand(s, p) }) == nil
}
