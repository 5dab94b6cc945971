package accept

import (
	"regexp"
	"strings"
	"testing"
)

// TestSyscallShapes: the code for system calls with arguments of the same types is shared, but each of them has its own
// names. What a call sends must have the names of that call.
func TestSyscallShapes(t *testing.T) {
	const text = `probe("syscall:*", lambda e: print(e.probe, e.args) if hasattr(e, "args") else None)`
	e, _ := traced(t, text, nil, "getppid", "3")
	names := map[string]string{
		"openat": "dfd filename flags mode", "close": "fd", "read": "fd buf count", "write": "fd buf count",
		"mmap":   "addr len prot flags fd off",
		"munmap": "addr len", "mprotect": "start len prot", "pread64": "fd buf count pos",
		"futex":          "uaddr op val utime uaddr2 val3",
		"rt_sigprocmask": "how nset oset sigsetsize", "rt_sigaction": "sig act oact sigsetsize", "brk": "brk",
		"madvise":           "start len_in behavior",
		"sched_getaffinity": "pid len user_mask_ptr", "sigaltstack": "uss uoss",
	}
	line, field := regexp.MustCompile(`^syscall:(\w+) record\((.*)\)$`), regexp.MustCompile(`(?:^|, )(\w+) = `)
	seen := map[string]bool{}
	for _, l := range strings.Split(e.stdout, "\n") {
		m := line.FindStringSubmatch(l)
		if m == nil || names[m[1]] == "" {
			continue
		}
		var got []string
		for _, f := range field.FindAllStringSubmatch(m[2], -1) {
			got = append(got, f[1])
		}
		if got := strings.Join(got, " "); got != names[m[1]] && !seen[m[1]] {
			t.Errorf("%s has %q, want %q", m[1], got, names[m[1]])
		}
		seen[m[1]] = true
	}
	for _, want := range []string{"openat", "close", "mmap"} {
		if !seen[want] {
			t.Errorf("no %s with arguments in %s", want, excerpt(e.stdout))
		}
	}
	if len(seen) < 6 {
		t.Errorf("only %v", seen)
	}
}
