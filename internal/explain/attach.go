package explain

import (
	"fmt"
	"time"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/format"
)

// How programs are attached, in the words of `explain`, for each way one, and how many functions are listed.

// way says in words how a program is attached, and how often.
func (in *Input) way(p *tree.Program) (string, int) {
	switch at := p.Attach.Way.(type) {
	case tree.Tracepoint:
		return fmt.Sprintf("tracepoint %s:%s, through a perf event; runs on every CPU", at.Group, at.Name), 1
	case tree.RawTracepoint:
		return fmt.Sprintf("raw tracepoint %s; runs on every CPU", at.Name), 1
	case tree.SyscallEnter:
		return allCalls("sys_enter", at.Exact) + ", where each system call begins; " + in.goesOn(p), 1
	case tree.SyscallExit:
		return allCalls("sys_exit", at.Exact) + ", where each system call ends; " + in.goesOn(p), 1
	case tree.Clock:
		if !at.EveryCPU {
			return "a perf event on one CPU: its clock, " + rate(at.Freq, at.Period), 1
		}
		return in.everywhere("its clock, " + rate(at.Freq, at.Period))
	case *tree.Functions:
		return functions(at), len(at.Places)
	case tree.Counter:
		return in.everywhere(at.Name + ", " + samples(&at))
	case tree.Watchpoint:
		place := fmt.Sprintf("%#x", at.Address)
		if at.File != "" {
			place += " behind where the command will have " + at.File
		}
		return fmt.Sprintf("a watch of the CPUs on %s at %s, %s (%s)", format.Count(at.Length, "byte"), place, at.Name,
			at.Access), in.CPUs
	case tree.Iterator:
		return "the kernel's list of " + at.Name + "; runs once for each entry when startrace reads it", 1
	}
	panic(fmt.Sprintf("no words for a program that is attached by %T", p.Attach.Way))
}

// allCalls is the tracepoint of a name that all system calls come to.
func allCalls(name string, exact bool) string {
	if exact {
		return "tracepoint raw_syscalls:" + name + ", through a perf event"
	}
	return "raw tracepoint " + name
}

// everywhere is a perf event on every CPU.
func (in *Input) everywhere(what string) (string, int) {
	return fmt.Sprintf("a perf event on each of %s: %s", format.Count(in.CPUs, "CPU"), what), in.CPUs
}

// mechanisms are the ways into functions.
var mechanisms = map[tree.AttachKind]string{
	tree.AttachKprobe:    "by a probe at its entry or behind it (kprobe)",
	tree.AttachKretprobe: "by a probe of its returns (kretprobe)",
	tree.AttachFentry:    "by a call at its entry (trampoline, fentry)",
	tree.AttachFexit:     "by a call around it (trampoline, fexit)",
	tree.AttachUprobe:    "by a breakpoint in the program (uprobe)",
	tree.AttachUretprobe: "by a probe of its returns (uretprobe)",
	tree.AttachHook:      "a security hook, by a call (trampoline, lsm); it permits everything",
}

func functions(f *tree.Functions) string {
	mechanism, known := mechanisms[f.Mech]
	switch {
	case !known:
		panic(fmt.Sprintf("no words for the way %d into functions", f.Mech))
	case f.Binary != "":
		return f.Binary + ": " + places(f.Places) + ", " + mechanism + process(f)
	}
	return "kernel function " + places(f.Places) + ", " + mechanism
}

// shownPlaces is how many functions are listed.
const shownPlaces = 4

// places names the functions of a program.
func places(list []tree.Place) string {
	var names []string
	for _, at := range list {
		names = append(names, at.String())
	}
	return format.Few(names, shownPlaces)
}

// process says so if user probes stand in one process only.
func process(f *tree.Functions) string {
	if f.Process == 0 {
		return ""
	}
	return fmt.Sprintf(" of process %d", f.Process)
}

// samples says how often a counter runs the program.
func samples(c *tree.Counter) string {
	switch {
	case c.Freq != 0:
		return rate(c.Freq, c.Period)
	case c.Period == 1:
		return "at each event"
	}
	return fmt.Sprintf("at one event in %d", c.Period)
}

// attachment says what a program is attached to and how many attachments it
// takes.
func (in *Input) attachment(p *tree.Program) (string, int) {
	if p.Tail {
		return "nothing: another program jumps here, because one alone would be too long", 0
	}
	text, n := in.way(p)
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
	case bpfgen.IsSpanExec(name):
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

func rate(freq, period uint64) string {
	if period != 0 {
		return "every " + time.Duration(period).String()
	}
	return format.Count(freq, "time") + " a second"
}
