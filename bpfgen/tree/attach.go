package tree

import (
	"fmt"
	"strings"
)

// AttachKind is the way a program is attached. It decides what the program's
// context is.
type AttachKind uint8

// The ways to attach.
const (
	AttachTracepoint    AttachKind = iota // perf tracepoint; ctx is the record of its format
	AttachRawTracepoint                   // ctx is u64 args[]
	AttachProfile                         // cpu-clock on every CPU; ctx is bpf_perf_event_data
	AttachInterval                        // cpu-clock on one CPU
	AttachSyscallEnter                    // raw_tp sys_enter: ctx is {pt_regs*, nr}
	AttachSyscallExit                     // raw_tp sys_exit: ctx is {pt_regs*, ret}
	AttachKprobe                          // entry of kernel functions, or behind it; ctx is pt_regs
	AttachKretprobe                       // return of kernel functions; ctx is pt_regs
	AttachFentry                          // entry of one kernel function; ctx is u64 args[]
	AttachFexit                           // its return; ctx is u64 args[], then the result
	AttachUprobe                          // an instruction of a binary; ctx is pt_regs
	AttachUretprobe                       // return of functions of a binary; ctx is pt_regs
	AttachPerf                            // a perf event on every CPU; ctx is bpf_perf_event_data
	AttachWatchpoint                      // an access to memory; ctx is bpf_perf_event_data
	AttachIter                            // an iterator: runs when it is read; ctx is struct bpf_iter__NAME
	AttachHook                            // a security hook, which it permits; ctx is u64 args[]

	numAttachKinds
)

// Trampoline reports whether the program is called from the beginning or the end of one function of the kernel, with
// u64 args[] on the stack as its context.
func (k AttachKind) Trampoline() bool {
	return k == AttachFentry || k == AttachFexit || k == AttachHook
}

// Attach says where a program goes.
type Attach struct {
	Kind AttachKind
	// Group and Name of the tracepoint; Name of the iterator, and of what
	// AttachWatchpoint watches; kind and name of the event of AttachPerf.
	Group, Name string
	// Freq is the samples per second of AttachProfile; Period is in ns and
	// wins if set. Of AttachPerf Period is the events between two samples, or
	// Freq the samples per second.
	Freq   uint64
	Period uint64
	// Span is the number of the span that AttachSyscallEnter and
	// AttachSyscallExit pair by thread, and that a program at a start or an end
	// belongs to; Unit.Spans describes it.
	Span int
	// Places are where probes of functions stand; the program of AttachFentry
	// and AttachFexit has one.
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
	// Bare: AttachUprobe's places are where functions have no frame, since they
	// have not made it yet (their entry) or no longer have it (the instruction
	// that returns). The return address is then where the call left it.
	Bare bool
	// Tracing are functions of the kernel that it may call between a tracepoint and
	// the program, some of them or none: stacks that are cut at a number of frames
	// begin behind them. Empty where no stack is.
	Tracing []Code
	// Type and Config are perf_event_attr's, of AttachPerf.
	Type   uint32
	Config uint64
	// Address, Length and Access ("r", "w", "x", together) of AttachWatchpoint.
	Address uint64
	Length  int
	Access  string
}

// Code is where a function of the kernel lies.
type Code struct{ Start, Size uint64 }

// A Session says how the program at the entry of functions and the one at their
// return can be attached as one.
type Session struct {
	Return   string // the name of the program at the return
	IsReturn uint32 // the number in BTF of bpf_session_is_return (6.10)
}

// A Place is where a probe stands.
type Place struct {
	// Func is the name of the function. A kernel function is found by it, in
	// Module if that is not empty; of a user function it is for messages.
	Func, Module string
	// Program is the number of the BPF program whose function it is, 0: of none.
	Program uint32
	// Address is that of a kernel function, 0: by name.
	Address uint64
	// Offset is in bytes: of a kernel probe behind the function's start, of a
	// user probe in the file.
	Offset uint64
	// Semaphore is where a USDT probe counts its users, an offset in the file;
	// 0: nowhere.
	Semaphore uint64
	// Cookie is the number of the point among those of the probe: see
	// Unit.Points.
	Cookie uint64
	// BTF is the kernel function's type, in the BTF of Module.
	BTF uint32
	// Caller says of a place of Attach.Bare whether the kernel puts the caller into stacks itself.
	Caller Caller
}

// Caller says whether stacks that the kernel takes where a function has no frame have its caller all the same. Since
// 6.11 that of amd64 adds it where the instruction is one by which functions begin that make a frame (cfa7f3d2c526,
// "perf,x86: avoid missing caller address in stack traces captured in uprobe"; is_uprobe_at_func_entry,
// arch/x86/events/core.c).
type Caller uint8

// The answers.
const (
	CallerMissing Caller = iota
	CallerThere
	CallerUnknown // the kernel is older, but may have been given the change
)

// A Point is one of the points that a probe matched, by its name (e.probe) and
// by its function (e.func).
type Point struct{ Name, Func string }

var attachWords = map[AttachKind]string{
	AttachTracepoint: "tracepoint", AttachRawTracepoint: "rawtracepoint", AttachProfile: "profile",
	AttachInterval:     "interval",
	AttachSyscallEnter: "syscall-enter", AttachSyscallExit: "syscall-exit",
	AttachKprobe: "kprobe", AttachKretprobe: "kretprobe", AttachFentry: "fentry", AttachFexit: "fexit",
	AttachUprobe: "uprobe", AttachUretprobe: "uretprobe", AttachPerf: "perf", AttachWatchpoint: "watchpoint",
	AttachIter: "iter", AttachHook: "lsm",
}

// String names what the program is attached to.
func (a Attach) String() string {
	word, ok := attachWords[a.Kind]
	if !ok {
		panic(fmt.Sprintf("package tree has no word for programs of kind %d", a.Kind))
	}
	switch a.Kind {
	case AttachTracepoint:
		return fmt.Sprintf("%s %s:%s", word, a.Group, a.Name)
	case AttachRawTracepoint, AttachIter:
		return word + " " + a.Name
	case AttachProfile, AttachInterval:
		if a.Period != 0 {
			return fmt.Sprintf("%s %dns", word, a.Period)
		}
		return fmt.Sprintf("%s %dhz", word, a.Freq)
	case AttachSyscallEnter, AttachSyscallExit:
		return fmt.Sprintf("%s span %d", word, a.Span)
	case AttachPerf:
		if a.Freq != 0 {
			return fmt.Sprintf("%s %d:%#x %dhz", word, a.Type, a.Config, a.Freq)
		}
		return fmt.Sprintf("%s %d:%#x every %d", word, a.Type, a.Config, a.Period)
	case AttachWatchpoint:
		return fmt.Sprintf("%s %#x:%d:%s", word, a.Address, a.Length, a.Access)
	}
	return word + a.places()
}

// places lists the places of function probes.
func (a Attach) places() string {
	var b strings.Builder
	if a.Binary != "" {
		b.WriteString(" " + a.Binary)
	}
	for _, p := range a.Places {
		b.WriteString(" " + p.String())
		if a.Cookies {
			fmt.Fprintf(&b, "=%d", p.Cookie)
		}
	}
	return b.String()
}

// String is the place as in a point, with a user probe's offset in the file.
func (p Place) String() string {
	s := p.Func
	if p.Module != "" {
		s = p.Module + ":" + s
	}
	if p.Address != 0 {
		s = fmt.Sprintf("%#x", p.Address)
	}
	if p.Offset != 0 {
		s += fmt.Sprintf("+%#x", p.Offset)
	}
	return s
}

// AttachKinds are all ways to attach, for tests that each room knows them.
func AttachKinds() []AttachKind {
	kinds := make([]AttachKind, numAttachKinds)
	for i := range kinds {
		kinds[i] = AttachKind(i)
	}
	return kinds
}
