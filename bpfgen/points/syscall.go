package points

import (
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/plan"
)

// The points syscall:NAME, which calls a pattern means, with those of programs of 32 bits.

// SystemCalls are those that a pattern matched. Their calls are spans.
type SystemCalls struct {
	ofSpan
	// List are the calls, those of other interfaces of the kernel among them.
	List []kernel.Syscall
	All  bool // syscall:*
	// Exact: programs are attached where the kernel preempts none.
	Exact bool
}

// syscalls gives the target of syscall:NAME.
func (s search) syscalls(p *plan.Pattern) []*Target {
	patterns(p)
	list := s.knownCalls(kernel.MatchSyscalls(p.Args[0]))
	if len(list) == 0 {
		refusal.Wrong(p.Pos, "no system call matches %s%s", p.Text, refusal.Near(p.Args[0], kernel.SyscallNames()))
	}
	name := p.Args[0]
	if naming.IsPattern(name) {
		name = "syscalls"
	}
	return []*Target{{Source: &SystemCalls{List: list, All: p.Args[0] == "*", Exact: callsMissNone(s.Finder)},
		Text: p.Provider + ":" + p.Args[0], Name: name, Pos: p.Pos}}
}

// names has those of other interfaces once.
func (s *SystemCalls) names(t *Target) (out []string) {
	provider, _, _ := strings.Cut(t.Text, ":")
	known := map[string]bool{}
	for _, sc := range s.List {
		if sc.Entry == kernel.EntryNative || !known[sc.Name] {
			out = append(out, provider+":"+sc.Name)
		}
		known[sc.Name] = true
	}
	return out
}

func (s *SystemCalls) ArgNames(*kernel.Facts) (out []string) {
	for _, sc := range s.List {
		for _, a := range sc.Args() {
			out = append(out, a.Name)
		}
	}
	return out
}

func (s *SystemCalls) ArgCount(*kernel.Facts) (n int) {
	for _, sc := range s.List {
		n = max(n, len(sc.Args()))
	}
	return n
}

// Kept: the thread is the key.
func (*SystemCalls) Kept() []string { return []string{"time"} }

// knownCalls leaves out the calls of the 32-bit interface where they cannot be told from others, and those of x32 where
// the kernel has none: there they fail as the native ones that they are called after (ENOSYS).
func (s search) knownCalls(list []kernel.Syscall) []kernel.Syscall {
	compat, x32 := CompatMark(s.Facts) != nil, HasX32(s.Facts)
	return slices.DeleteFunc(list, func(sc kernel.Syscall) bool {
		return sc.Entry == kernel.EntryCompat && !compat || sc.Entry == kernel.EntryX32 && !x32
	})
}

func (s *SystemCalls) first(_ *Target, seen *pointSet) bool {
	switch {
	case s.All:
		return seen.once("all of " + otherCalls)
	case seen.has(otherCalls):
		return false
	}
	s.List = slices.DeleteFunc(slices.Clone(s.List), func(sc kernel.Syscall) bool {
		return !seen.once(fmt.Sprint("system call ", sc.Nr, sc.Name))
	})
	return len(s.List) > 0
}
