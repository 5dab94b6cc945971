package wire

// The layout of a stack in the table of stacks: u64 a second hash, u32 the
// number of addresses, u32 the process of a user stack (0: a kernel stack),
// then the addresses, the leaf first.
const (
	StackCheck   = 0
	StackCount   = 8
	StackProcess = 12
	StackAddrs   = 16
)

// MaxStack is the most addresses of a stack: the default of
// /proc/sys/kernel/perf_event_max_stack.
const MaxStack = 127

// NumberProcess, as the number of a record, says that it is no event but news
// of a process that has a new user stack. Its number is where events have
// their time.
const NumberProcess = 1<<32 - 1
