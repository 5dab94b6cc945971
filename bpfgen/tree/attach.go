package tree

import "fmt"

// The table of ways to attach: for each a row with what depends on it.

// AttachKind is the way a program is attached. It decides what the program's
// context is.
type AttachKind uint8

// The ways to attach.
const (
	AttachTracepoint    AttachKind = iota // perf tracepoint; ctx is the record of its format
	AttachRawTracepoint                   // ctx is u64 args[]
	AttachProfile                         // cpu-clock on every CPU; ctx is bpf_perf_event_data
	AttachInterval                        // cpu-clock on one CPU
	AttachSyscallEnter                    // raw_tp sys_enter: ctx is {pt_regs*, nr}; see SyscallEnter.Exact
	AttachSyscallExit                     // raw_tp sys_exit: ctx is {pt_regs*, ret}; see SyscallExit.Exact
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

// attachTraits are what else depends on a way to attach.
type attachTraits struct {
	// below says what is below the program in the stack of the kernel.
	below attachBelow
	// syscall: it is the start or the end of all system calls.
	syscall bool
	// popped: it runs behind the return of a function, when the return address has left the stack.
	popped bool
	// user: it stands in a user program.
	user bool
	// into is the word for a way into functions in the text of a tree; "" for a way to something else.
	into string
}

// attachBelow says what is below a program in the stack of the kernel.
type attachBelow uint8

const (
	belowUnknown attachBelow = iota
	// belowTracing: bpf_trace_run, which is part of the tracing and has called the program.
	belowTracing
	// belowTrampoline: a trampoline, which is part of the tracing, too.
	belowTrampoline
	// belowEvent: stacks are taken by registers that were there before the tracing.
	belowEvent
	// belowSample: an interrupt of what is looked at. Its registers are the context.
	belowSample
)

// attachTable has a row for each way to attach: a test fails for one that has none.
var attachTable = [numAttachKinds]attachTraits{
	AttachTracepoint:    {below: belowEvent},
	AttachRawTracepoint: {below: belowTracing},
	AttachProfile:       {below: belowSample},
	AttachInterval:      {below: belowSample},
	AttachSyscallEnter:  {below: belowTracing, syscall: true},
	AttachSyscallExit:   {below: belowTracing, syscall: true},
	AttachKprobe:        {below: belowEvent, into: "kprobe"},
	AttachKretprobe:     {below: belowEvent, into: "kretprobe", popped: true},
	AttachFentry:        {below: belowTrampoline, into: "fentry"},
	AttachFexit:         {below: belowTrampoline, into: "fexit"},
	AttachUprobe:        {below: belowEvent, into: "uprobe", user: true},
	AttachUretprobe:     {below: belowEvent, into: "uretprobe", user: true, popped: true},
	AttachPerf:          {below: belowSample},
	AttachWatchpoint:    {below: belowSample},
	AttachIter:          {below: belowEvent},
	AttachHook:          {below: belowTrampoline, into: "lsm"},
}

// traits are the row of k.
func (k AttachKind) traits() *attachTraits {
	t := &attachTable[k]
	if t.below == belowUnknown {
		panic(fmt.Sprintf("nobody knows what is below programs of the way %d to attach", k))
	}
	return t
}

// Trampoline reports whether the program is called from the beginning or the end of one function of the kernel, with
// u64 args[] on the stack as its context.
func (k AttachKind) Trampoline() bool { return k.traits().below == belowTrampoline }

// Traced reports whether stacks that the program takes begin with what called it, which is part of the tracing.
func (k AttachKind) Traced() bool { return k.Trampoline() || k.traits().below == belowTracing }

// Sample reports whether the program runs by an interrupt at what is looked at, of which its context has the registers:
// no tracing is in the stack.
func (k AttachKind) Sample() bool { return k.traits().below == belowSample }

// Syscall reports whether the program runs at the start or the end of all system calls.
func (k AttachKind) Syscall() bool { return k.traits().syscall }

// Popped reports whether the program runs where a function has returned, and its return address has left the stack.
func (k AttachKind) Popped() bool { return k.traits().popped }

// InUser reports whether the program stands in a user program.
func (k AttachKind) InUser() bool { return k.traits().user }

// Attach says where a program goes.
type Attach struct {
	// Way is how, and at what.
	Way
	// Span is the number of the span that SyscallEnter and SyscallExit pair by
	// thread, and that a program at a start or an end belongs to; Unit.Spans
	// describes it.
	Span int
	// Tracing are functions of the kernel that it may call between a tracepoint and
	// the program, some of them or none: stacks that are cut at a number of frames
	// begin behind them. Empty where no stack is.
	Tracing []Code
}

// Code is where a function of the kernel lies: the address Start of its first byte, and its Size in bytes.
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
	// Turns: it is the entry of a function, and the head of a loop in it. What comes there with the stack and the
	// return address of an open call is a turn.
	Turns bool
	// Cookie is the number of the point among those of the probe: see
	// Unit.Points.
	Cookie uint64
	// BTF is the kernel function's type, in the BTF of Module.
	BTF uint32
	// Caller says of a place of Functions.Bare whether the kernel puts the caller into stacks itself.
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

// A Point is one of the points that a probe matched: Name is what e.probe gives, and Func what e.func gives.
type Point struct{ Name, Func string }

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
