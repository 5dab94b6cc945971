package points

import (
	"slices"

	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/point"
)

// With --exact, ways to attach that miss no event where the kernel preempts programs, and the warning about others.
//
// A kernel that preempts programs (Facts.MissesCalls) does not run one for the other tasks of a CPU while one of them
// is in it, and an event is missed. It preempts what trampolines and raw tracepoints run, unless these stand in code
// that is not preempted, and what it runs at the tracepoints of single system calls. It preempts nothing that it runs
// by kprobes and by the perf events of other tracepoints, those of all system calls among them.

// mustMissNone reports whether ways must be taken that this kernel lets miss no call.
func (s search) mustMissNone() bool { return s.Exact == plan.ExactAll && s.Facts.MissesCalls() }

// tracepointMissesNone reports it of tracepoints of single system calls. A script that has points of syscall:, too,
// lets each system call of the machine take the time of programs anyway.
func tracepointMissesNone(s search) bool {
	return s.mustMissNone() || s.WithCalls && callsMissNone(s.Finder)
}

// HasCalls reports whether some of a probe's points are of syscall:, whichever first() chooses.
func HasCalls(list []plan.Point) bool {
	return slices.ContainsFunc(list, func(p plan.Point) bool {
		switch p := p.(type) {
		case *plan.Pattern:
			return kindOf(p).Family == point.SystemCalls
		case *plan.Event:
			return slices.ContainsFunc(p.Arms, func(a plan.Arm) bool { return HasCalls(a.Points) })
		}
		return false
	})
}

// callsMissNone reports the same of syscall:, whose programs see all system calls in either form: the one that misses
// none costs a tenth more. It wants perf events and files of tracefs, which not everybody may have.
func callsMissNone(f *Finder) bool {
	if f.Exact == plan.ExactNone || !f.Facts.MissesCalls() {
		return false
	}
	_, err := f.Facts.Tracepoint("raw_syscalls", "sys_enter")
	return f.Exact == plan.ExactAll || err == nil && !f.Facts.Features().PerfDenied
}

// warnPreempted says of a pattern whose programs may be preempted what would miss nothing in its place.
func (s search) warnPreempted(p *plan.Pattern) {
	if instead := kindOf(p).Preempted; instead != "" && s.mustMissNone() {
		s.warnf(p.Pos, "%s misses events where this kernel preempts its program: %s misses none (--exact)", p.Text,
			instead)
	}
}
