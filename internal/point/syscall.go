package point

import (
	"fmt"
	"strings"
)

// The row of syscall: in the table of kinds: form, examples, what its events have (`Gives`), and what DTrace and others
// write for it.

// SystemCalls are spans: the entry and the exit of a call are one event. Both are raw tracepoints that all system calls
// pass.
var SystemCalls = &Family{Name: "system calls", Calls: "syscall:NAME", Kinds: []*Kind{{
	Name: "syscall", Short: "sc",
	Form: "NAME", Mistake: dtraceSyscall,
	What:     "system calls, enter and exit as one event",
	Examples: []string{"syscall:open{,at,at2}", "syscall:*"},
	Gives:    []string{"args", "ret", "duration"},
	Set:      "system calls", Bare: true,
	ListedBy: NoList, Ways: []*Way{byRawTracepoint},
	Foreign: map[string]string{"syscalls": "use syscall:NAME, or tracepoint:syscalls:NAME"},
}}}

// dtraceSyscall knows syscall::open:entry, as DTrace has it.
func dtraceSyscall(text, rest string) error {
	of, colon := strings.CutPrefix(rest, ":")
	if !colon {
		return nil
	}
	call, end, _ := strings.Cut(of, ":")
	if end == "entry" {
		return fmt.Errorf("%q: want syscall:%s with start=, for the moment of its start", text, call)
	}
	return fmt.Errorf("%q: want syscall:%s: the event is the call's return, with its arguments", text, call)
}
