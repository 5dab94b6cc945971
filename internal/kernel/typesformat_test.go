package kernel

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What types tell of the records of tracepoints is what tracefs tells: each field of this kernel's tracepoints is where
// the format has it. Some classes cannot be told from others that take the same arguments; those are few, and the test
// prints them.
func TestTypesTellFormats(t *testing.T) {
	real := Open(Options{})
	if err := real.CheckTracefs(); err != nil {
		t.Skipf("needs tracefs: %v", err)
	}
	if _, err := real.BTF(); err != nil {
		t.Skipf("needs BTF of the kernel: %v", err)
	}
	opts, err := TypesOnly(BTFPath, "")
	if err != nil {
		t.Fatal(err)
	}
	typed := Open(opts)
	names, err := real.MatchTracepoints("*", "*")
	if err != nil {
		t.Fatal(err)
	}
	same, other := 0, []string(nil)
	for _, n := range names {
		want, err := real.Tracepoint(n.Group, n.Name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := typed.Tracepoint(n.Group, n.Name)
		switch {
		case err != nil:
			other = append(other, n.String()+": none")
		case recordText(got) == recordText(want):
			same++
		default:
			other = append(other, n.String())
		}
	}
	t.Logf("%d of %d are the same; not %s", same, len(names), strings.Join(other, ", "))
	if opts.Release == "5.10" { // whose types leave many out, which is said of each
		if slices.ContainsFunc(other, func(o string) bool { return !strings.HasSuffix(o, ": none") }) {
			t.Errorf("some are told otherwise, and not left out")
		}
		return
	}
	if same*100 < len(names)*95 {
		t.Errorf("only %d of %d formats are the same", same, len(names))
	}
	for _, used := range []string{"sched:sched_switch", "block:block_rq_issue", "sock:inet_sock_set_state",
		"syscalls:sys_enter_openat", "tcp:tcp_retransmit_skb", "irq:softirq_entry", "lock:contention_begin"} {
		if slices.ContainsFunc(other, func(o string) bool { return strings.HasPrefix(o, used) }) {
			t.Errorf("%s is told otherwise", used)
		}
	}
}

// recordText is where the fields of a record are. The texts of arguments that new kernels (7.2) put behind the
// arguments of system calls (__filename_val) have no types.
func recordText(t *Tracepoint) string {
	var out []string
	for _, f := range t.Fields {
		if t.Group == "syscalls" && strings.HasPrefix(f.Name, "__") && strings.HasSuffix(f.Name, "_val") {
			continue
		}
		out = append(out, strings.Join([]string{f.Name, strconv.Itoa(f.Off), strconv.Itoa(f.Size)}, " "))
	}
	return strings.Join(out, ";")
}
