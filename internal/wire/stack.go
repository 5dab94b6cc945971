package wire

// An entry of the table of stacks: marks and bits, and the most frames of a stack (`MaxStack`).

// The layout of a stack in the table of stacks: u64 a second hash, u16 the
// number of addresses, u16 how it was taken, u32 the process of a
// user stack or, of a kernel stack, 0 or StackProgram and the number of the
// program that took it, then the addresses, the leaf first.
const (
	StackCheck   = 0
	StackCount   = 8
	StackMark    = 10
	StackProcess = 12
	StackAddrs   = 16
)

// How a stack was taken: how many addresses were asked for, whether a probe took it, so that it begins in the kernel's
// tracing, or a sample, and from bit MarkWhyShift on, of a user stack, why it ends (UnwindReached and so on), 0 where
// the kernel has taken it.
const (
	MarkAsked    = 0xff
	MarkTraced   = 0x100
	MarkWhyShift = 9
)

// StackMarked is set in an address of a user stack that is not as others in its place. The first one is where the
// program is: marked it stands behind the instruction of a system call. Others are return addresses, which stand behind
// calls: a marked one is where a signal has interrupted the program. One that the runtime of Go has interrupted is not
// marked, and known by the function before it (elffile.GoInjected).
const StackMarked = 1 << 63

// StackProgram marks the number of a program, in the lower 16 bits: that of a probe
// at the entry or the return of one function, with which its stacks begin. In
// the bits above is how many frames were asked for: with that function in front,
// the same addresses are another stack where one has to go at the end.
const (
	StackProgram       = 1 << 31
	StackProgramNumber = 1<<16 - 1
	StackProgramAsked  = 16
)

// The ids that are no stack; those of stacks are odd.
const (
	NoStack     = 0 // of the kernel: a user program was running
	NoUserStack = 2 // a thread of the kernel has none, nor has a program within exec, or one that has ended
	LostStack   = 4 // the table was full, or the id that of another stack
	FirstStack  = 5
	FirstMerged = 6 // the first even one, of a stack that user space has made: as reports show others
)

// MaxStack is the most addresses of a stack: the default of
// /proc/sys/kernel/perf_event_max_stack.
const MaxStack = 127

// NumberProcess, as the number of a record, says that it is no event but news of a new stack: its id, and the process
// if it is one of a program, 0 if it is of the kernel, lie behind the header.
const (
	NumberProcess = 1<<32 - 1
	ProcessStack  = HeaderSize
	ProcessNumber = HeaderSize + 8
	ProcessSize   = HeaderSize + 16
)
