package accept

import (
	"runtime"
	"strings"
	"testing"
)

// The kernel's own code for returns makes system calls in the traced thread. They are no calls of the program: those of
// the program are counted as without them, and nothing is said of ends that never come.
//
// > On x86 a return that is probed is a system call of the traced thread, `uretprobe`, from Linux 6.11 on.
// > From Linux 6.18 on some probes at instructions are such calls, too: `uprobe`.
// > Patterns, as `syscall:*`, do not mean them, and `syscall:uretprobe` does: it fires at its start.
// > `raw_syscalls` has them, with the number -1 at their ends.
func TestCallsOfProbes(t *testing.T) {
	const alone = `
calls = count()
probe("syscall:*", lambda e: calls[e.func].add())
at_exit(lambda: print(sorted(calls.items())))
`
	const beside = alone + `
raw, named, returns = count(), count(), count()
probe("tracepoint:raw_syscalls:sys_enter", lambda e: raw[syscall_name(e.args.id)].add())
probe("tracepoint:raw_syscalls:sys_exit", lambda e: raw["-1"].add(), where = lambda e: e.args.id == -1)
probe("syscall:uretprobe", lambda e: named[e.ret].add())
probe("ufunc:BIN:down", lambda e: returns.add())
at_exit(lambda: print(returns.value, raw["uretprobe"].value, raw["-1"].value, named[None].value))
`
	if runtime.GOARCH != "amd64" {
		t.Skip("needs x86: elsewhere returns that are probed are no system calls")
	}
	want := onTarget(t, "calls", alone, "down", "40").stdout
	e := onTarget(t, "calls", beside, "down", "40")
	if unended, startless := e.unended(t); unended+startless > 0 {
		t.Errorf("said without cause: %s", e.stderr)
	}
	made := "0 0 0"
	if strings.Contains(startrace(t, "list", "tracepoint:syscalls:sys_enter_uretprobe").stdout, "uretprobe") {
		made = "41 41 41"
	}
	if want += "41 " + made + "\n"; e.stdout != want || strings.HasPrefix(want, "[]") {
		t.Errorf("got:\n%s\nwant:\n%s", e.stdout, want)
	}
}
