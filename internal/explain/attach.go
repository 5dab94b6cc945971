package explain

import (
	"fmt"
	"time"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
)

// ways say in words how programs of a kind are attached and how often. Kinds
// that are not here are named as the compiler does, attached once.
var ways = map[tree.AttachKind]func(in *Input, p *tree.Program) (string, int){
	tree.AttachTracepoint: func(_ *Input, p *tree.Program) (string, int) {
		return fmt.Sprintf("tracepoint %s:%s, through a perf event; runs on every CPU", p.Attach.Group, p.Attach.Name), 1
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
		return fmt.Sprintf("a perf event on each of %d CPU%s: its clock, %s", in.CPUs, plural(in.CPUs), rate(&p.Attach)), in.CPUs
	},
	tree.AttachInterval: func(_ *Input, p *tree.Program) (string, int) {
		return "a perf event on one CPU: its clock, " + rate(&p.Attach), 1
	},
}

// attachment says what a program is attached to and how many attachments it
// takes.
func (in *Input) attachment(p *tree.Program) (string, int) {
	if p.Tail {
		return "nothing: another program jumps here, because one alone would be too long", 0
	}
	if way := ways[p.Attach.Kind]; way != nil {
		text, n := way(in, p)
		return text + own(p.Name), n
	}
	return p.Attach.String() + own(p.Name), 1
}

// own says what the programs that startrace adds are for.
func own(name string) string {
	switch name {
	case bpfgen.SpanExit:
		return "; forgets the open calls of threads that end"
	case "follow_fork":
		return "; adds the children of followed processes"
	case "follow_exit":
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
	return fmt.Sprintf("%d times a second", a.Freq)
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
