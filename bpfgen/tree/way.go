package tree

import (
	"fmt"
	"github.com/startrace/startrace/internal/escape"
	"strings"
)

// A struct for each way to attach a program: Tracepoint, Functions, Clock, Iterator and others.

// A Way is how a program is attached, and at what: one of the structs of this file.
type Way interface {
	// Kind decides what the program's context is.
	Kind() AttachKind
	// At gives the places of functions at which it is attached; none for what is no function.
	At() []Place
	// text names it in the text of a tree, where it may name the span of the program.
	text(span int) string
}

// nowhere has no functions.
type nowhere struct{}

// At gives none.
func (nowhere) At() []Place { return nil }

// A Tracepoint is attached by a perf event. Group and Name are its folders below events/ of tracefs.
type Tracepoint struct {
	nowhere
	Group, Name string
}

// A RawTracepoint is one that the kernel finds by Name alone, as in the first argument of its TRACE_EVENT.
type RawTracepoint struct {
	nowhere
	Name string
}

// A SyscallEnter is where each system call begins, a SyscallExit where it ends. Exact ones are attached to the
// tracepoints of raw_syscalls by perf events, which the kernel does not preempt, and other ones to raw tracepoints. The
// context of an exact one is the record of its format: 8 bytes that no program may read, the number, and the arguments
// or the result, of 8 bytes each.
type (
	SyscallEnter struct {
		nowhere
		Exact bool
	}
	SyscallExit struct {
		nowhere
		Exact bool
	}
)

// A Clock is the CPU's clock as a perf event: on every CPU as a sample of what runs there, else on one CPU.
type Clock struct {
	nowhere
	// EveryCPU makes it a sample of each CPU; else it runs on one CPU, as a timer does.
	EveryCPU bool
	// Freq is in times per second; Period is in ns and wins if set.
	Freq, Period uint64
}

// Functions are places in functions of the kernel or of one program.
type Functions struct {
	// Mech is how the program gets there: AttachKprobe and its like.
	Mech AttachKind
	// Places are where it stands. A program that is called by a trampoline has one.
	Places []Place
	// Cookies: the program asks for its place (builtin "cookie"), so each place is
	// attached with its Cookie.
	Cookies bool
	// Session is set at the entry of functions where the kernel can run one program
	// there and at the return: see Session.
	Session *Session
	// Binary is the file of user probes, as this process can open it; Process
	// is the only process to be probed, 0: all.
	Binary  string
	Process int
	// Bare: the places of AttachUprobe are where functions have no frame, since they
	// have not made it yet (their entry) or no longer have it (the instruction
	// that returns). The return address is then where the call left it.
	Bare bool
}

// A Counter is an event that the kernel or the CPU counts, on every CPU.
type Counter struct {
	nowhere
	Group, Name string // the kind of the point and the event, as scripts write them
	// Type and Config are the fields of that name in struct perf_event_attr.
	Type   uint32
	Config uint64
	// Period is the events between two runs of the program; 0: it runs Freq times a second.
	Period, Freq uint64
}

// A Watchpoint is memory of which each access runs the program.
type Watchpoint struct {
	nowhere
	Name string // as scripts write it
	// Address is that of the first byte that is watched, and Length how many bytes are: 1, 2, 4 or 8.
	Address uint64
	Length  int
	// File is what Address is in: where the command has it is known once it runs. "" if Address is that in memory.
	File   string
	Access string // "r", "w", "x", together
}

// An Iterator is a list of the kernel's.
type Iterator struct {
	// Name is what the list is of, as in iter:task.
	Name string
	Func Place // the function in BTF by which it is attached
}

// Kind is AttachTracepoint.
func (Tracepoint) Kind() AttachKind { return AttachTracepoint }

// Kind is AttachRawTracepoint.
func (RawTracepoint) Kind() AttachKind { return AttachRawTracepoint }

// Kind is AttachSyscallEnter.
func (SyscallEnter) Kind() AttachKind { return AttachSyscallEnter }

// Kind is AttachSyscallExit.
func (SyscallExit) Kind() AttachKind { return AttachSyscallExit }

// Kind is AttachProfile on every CPU, else AttachInterval.
func (c Clock) Kind() AttachKind {
	if c.EveryCPU {
		return AttachProfile
	}
	return AttachInterval
}

// Kind is the mechanism.
func (f *Functions) Kind() AttachKind { return f.Mech }

// Kind is AttachPerf.
func (Counter) Kind() AttachKind { return AttachPerf }

// Kind is AttachWatchpoint.
func (Watchpoint) Kind() AttachKind { return AttachWatchpoint }

// Kind is AttachIter.
func (Iterator) Kind() AttachKind { return AttachIter }

// At gives the places.
func (f *Functions) At() []Place { return f.Places }

// At gives the iterator's function.
func (i Iterator) At() []Place { return []Place{i.Func} }

// noFunctions are those of ways that have none.
var noFunctions Functions

// Functions gives what is known of the functions at which a program is attached; an empty answer where it is attached
// to something else.
func (a *Attach) Functions() *Functions {
	if f, ok := a.Way.(*Functions); ok {
		return f
	}
	none := noFunctions
	return &none
}

// Add attaches the program at more places.
func (f *Functions) Add(places []Place) { f.Places = append(f.Places, places...) }

// AtPlaces is the same attachment at other places of functions.
func (a Attach) AtPlaces(places []Place) Attach {
	f := *a.Functions()
	f.Places = places
	a.Way = &f
	return a
}

// Exact reports whether a program of SyscallEnter or SyscallExit is an exact one.
func (a *Attach) Exact() bool {
	switch at := a.Way.(type) {
	case SyscallEnter:
		return at.Exact
	case SyscallExit:
		return at.Exact
	}
	return false
}

// Tracepoint is the name of the kernel's tracepoint at which a program is attached, as a raw one or by a perf event; ""
// where it is none that has a name.
func (a *Attach) Tracepoint() string {
	switch at := a.Way.(type) {
	case Tracepoint:
		return at.Name
	case RawTracepoint:
		return at.Name
	}
	return ""
}

// String names what the program is attached to.
func (a Attach) String() string {
	if a.Way == nil {
		return ""
	}
	return a.text(a.Span)
}

func (t Tracepoint) text(int) string    { return "tracepoint " + t.Group + ":" + t.Name }
func (r RawTracepoint) text(int) string { return "rawtracepoint " + r.Name }
func (i Iterator) text(int) string      { return "iter " + i.Name }

func (s SyscallEnter) text(span int) string {
	return fmt.Sprintf("syscall-enter%s span %d", exactly(s.Exact), span)
}
func (s SyscallExit) text(span int) string {
	return fmt.Sprintf("syscall-exit%s span %d", exactly(s.Exact), span)
}

func exactly(exact bool) string {
	if exact {
		return " exact"
	}
	return ""
}

func (w Watchpoint) text(int) string {
	in := ""
	if w.File != "" {
		in = w.File + "+"
	}
	return fmt.Sprintf("watchpoint %s%#x:%d:%s", in, w.Address, w.Length, w.Access)
}

func (c Clock) text(int) string {
	word := "interval"
	if c.EveryCPU {
		word = "profile"
	}
	if c.Period != 0 {
		return fmt.Sprintf("%s %dns", word, c.Period)
	}
	return fmt.Sprintf("%s %dhz", word, c.Freq)
}

func (c Counter) text(int) string {
	if c.Freq != 0 {
		return fmt.Sprintf("perf %d:%#x %dhz", c.Type, c.Config, c.Freq)
	}
	return fmt.Sprintf("perf %d:%#x every %d", c.Type, c.Config, c.Period)
}

func (f *Functions) text(int) string {
	word := f.Mech.traits().into
	if word == "" {
		panic(fmt.Sprintf("no word for the way %d into functions", f.Mech))
	}
	var b strings.Builder
	b.WriteString(word)
	if f.Binary != "" {
		b.WriteString(" " + f.Binary)
	}
	for _, p := range f.Places {
		b.WriteString(" " + p.String())
		if f.Cookies {
			fmt.Fprintf(&b, "=%d", p.Cookie)
		}
	}
	return escape.Line(b.String()) // the names are those of programs
}
