package points

import (
	"github.com/startrace/startrace/internal/plan"
)

// With --exact, ways to attach that miss no event where the kernel preempts programs, and the warning about others.
//
// A kernel that preempts programs (Facts.MissesCalls) does not run one for the other tasks of a CPU while one of them
// is in it, and an event is missed. It preempts what trampolines and raw tracepoints run, unless these stand in code
// that is not preempted, and what it runs at the tracepoints of single system calls. It preempts nothing that it runs
// by kprobes and by the perf events of other tracepoints, those of all system calls among them.

// mustMissNone reports whether ways must be taken that this kernel lets miss no call.
func (s search) mustMissNone() bool { return s.Exact == plan.ExactAll && s.Facts.MissesCalls() }

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
