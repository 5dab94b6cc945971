package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/format"
)

// ways say in words how programs of a kind are attached and how often: a row for
// each kind.
var ways = map[tree.AttachKind]func(in *Input, p *tree.Program) (string, int){
	tree.AttachTracepoint: func(_ *Input, p *tree.Program) (string, int) {
		return fmt.Sprintf("tracepoint %s:%s, through a perf event; runs on every CPU", p.Attach.Group, p.Attach.Name),
			1
	},
	tree.AttachRawTracepoint: func(_ *Input, p *tree.Program) (string, int) {
		return fmt.Sprintf("raw tracepoint %s; runs on every CPU", p.Attach.Name), 1
	},
	tree.AttachSyscallEnter: func(in *Input, p *tree.Program) (string, int) {
		return "raw tracepoint sys_enter, where each system call begins; " + in.goesOn(p), 1
	},
	tree.AttachSyscallExit: func(in *Input, p *tree.Program) (string, int) {
		return "raw tracepoint sys_exit, where each system call ends; " + in.goesOn(p), 1
	},
	tree.AttachProfile: func(in *Input, p *tree.Program) (string, int) {
		return fmt.Sprintf("a perf event on each of %s: its clock, %s", format.Count(in.CPUs, "CPU"), rate(&p.Attach)),
			in.CPUs
	},
	tree.AttachInterval: func(_ *Input, p *tree.Program) (string, int) {
		return "a perf event on one CPU: its clock, " + rate(&p.Attach), 1
	},
	tree.AttachKprobe: func(_ *Input, p *tree.Program) (string, int) {
		return "kernel function " + places(p) + ", by a probe at its entry or behind it (kprobe)", len(p.Attach.Places)
	},
	tree.AttachKretprobe: func(_ *Input, p *tree.Program) (string, int) {
		return "kernel function " + places(p) + ", by a probe of its returns (kretprobe)", len(p.Attach.Places)
	},
	tree.AttachFentry: func(_ *Input, p *tree.Program) (string, int) {
		return "kernel function " + places(p) + ", by a call at its entry (trampoline, fentry)", len(p.Attach.Places)
	},
	tree.AttachFexit: func(_ *Input, p *tree.Program) (string, int) {
		return "kernel function " + places(p) + ", by a call around it (trampoline, fexit)", len(p.Attach.Places)
	},
	tree.AttachUprobe: func(_ *Input, p *tree.Program) (string, int) {
		return p.Attach.Binary + ": " + places(p) + ", by a breakpoint in the program (uprobe)" + process(&p.Attach),
			len(p.Attach.Places)
	},
	tree.AttachUretprobe: func(_ *Input, p *tree.Program) (string, int) {
		return p.Attach.Binary + ": " + places(p) + ", by a probe of its returns (uretprobe)" + process(&p.Attach),
			len(p.Attach.Places)
	},
	tree.AttachPerf: func(in *Input, p *tree.Program) (string, int) {
		return fmt.Sprintf("a perf event on each of %s: %s, %s", format.Count(in.CPUs, "CPU"), p.Attach.Name,
			samples(&p.Attach)), in.CPUs
	},
	tree.AttachWatchpoint: func(in *Input, p *tree.Program) (string, int) {
		a := &p.Attach
		return fmt.Sprintf("a watch of the CPUs on %s at %#x, %s (%s)", format.Count(a.Length, "byte"), a.Address,
			a.Name,
			a.Access), in.CPUs
	},
	tree.AttachHook: func(_ *Input, p *tree.Program) (string, int) {
		return "kernel function " + places(p) + ", a security hook, by a call (trampoline, lsm); it permits everything",
			len(p.Attach.Places)
	},
	tree.AttachIter: func(_ *Input, p *tree.Program) (string, int) {
		return "the kernel's list of " + p.Attach.Name + "; runs once for each entry when startrace reads it", 1
	},
}

// shownPlaces is how many functions are listed.
const shownPlaces = 4

// places names the functions of a program.
func places(p *tree.Program) string {
	var names []string
	for _, at := range p.Attach.Places {
		names = append(names, at.String())
	}
	if n := len(names); n > shownPlaces {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shownPlaces], ", "), n-shownPlaces)
	}
	return strings.Join(names, ", ")
}

// process says so if user probes stand in one process only.
func process(a *tree.Attach) string {
	if a.Process == 0 {
		return ""
	}
	return fmt.Sprintf(" of process %d", a.Process)
}

// samples says how often a counter runs the program.
func samples(a *tree.Attach) string {
	switch {
	case a.Freq != 0:
		return rate(a)
	case a.Period == 1:
		return "at each event"
	}
	return fmt.Sprintf("at one event in %d", a.Period)
}

// attachment says what a program is attached to and how many attachments it
// takes.
func (in *Input) attachment(p *tree.Program) (string, int) {
	if p.Tail {
		return "nothing: another program jumps here, because one alone would be too long", 0
	}
	text, n := ways[p.Attach.Kind](in, p)
	if p.Beside {
		text += "; counts the calls of which the kernel does not see the return"
	}
	return text + own(p.Name), n
}

// own says what the programs that startrace adds are for.
func own(name string) string {
	switch {
	case name == bpfgen.SpanExit:
		return "; forgets the open calls of threads that end"
	case bpfgen.IsCallFree(name):
		return "; forgets the open calls of threads that have ended"
	case bpfgen.IsCallExec(name):
		return "; closes the calls that a thread is in when it executes another program"
	case name == bpfgen.SpanExec:
		return "; keeps the open call of a thread whose number exec changes"
	case name == "follow_fork":
		return "; adds the children of followed processes"
	case name == "follow_exit":
		return "; forgets followed processes that end"
	}
	return ""
}

// goesOn says for how many system calls the program does more than look at
// the number.
func (in *Input) goesOn(p *tree.Program) string {
	calls := in.Unit.Tree.Spans[p.Attach.Span].Syscalls
	if calls == nil {
		return "goes on for all of them"
	}
	return fmt.Sprintf("goes on for %d of them", len(calls))
}

func rate(a *tree.Attach) string {
	if a.Period != 0 {
		return "every " + time.Duration(a.Period).String()
	}
	return format.Count(a.Freq, "time") + " a second"
}
