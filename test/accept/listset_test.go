package accept

import (
	"strings"
	"testing"
)

// The patterns of a list that match the same points, by the one pattern that matches these: the counts are equal.
//
// > A point that several patterns of one list match is one point, so an event of it is seen once.
func TestListIsSet(t *testing.T) {
	needTracing(t)
	for one, list := range map[string]string{
		`"syscall:{open*,*at}"`:                       `["syscall:open*", "syscall:*at", "syscall:openat"]`,
		`"syscall:{,*}openat"`:                        `["syscall:openat", "syscall:openat"]`,
		`"tracepoint:syscalls:sys_enter_{open*,*at}"`: `["t:syscalls:sys_enter_open*", "t:syscalls:sys_enter_*at"]`,
		`"rawtracepoint:sys_{enter,exit}"`:            `["rt:sys_enter", "rt:sys_*", "rawtracepoint:sys_exit"]`,
		`"uprobe:c:{getenv,getopt*}"`:                 `["u:c:getenv", "uprobe:c:get{env,opt*}"]`,
		`"ufunc:c:{getenv,setlocale}"`:                `["ufunc:c:getenv", "ufunc:c:{setlocale,getenv}"]`,
		`first("syscall:none_such", "syscall:openat")`: `["syscall:openat", first("syscall:none_such", ` +
			`"syscall:open{,at}")]`,
		`["syscall:*"]`: `["syscall:openat", "syscall:*", "syscall:*at"]`,
	} {
		var got []string
		for _, points := range []string{one, list} {
			e := startrace(t, "-q", script(t, `
n = count()
event_of = `+points+`
probe(event_of, lambda e: n[e.probe].add())
at_exit(lambda: print("\n".join(["%s %d" % (k, v) for k, v in sorted(n.items()) if "openat" in k or "sys_" in k
                                 or "getenv" in k or "locale" in k])))
`), "-c", "sh -c 'getent hosts localhost >/dev/null'").ok(t)
			got = append(got, strings.TrimSpace(e.stdout))
		}
		if got[0] != got[1] || !strings.Contains(got[0], " ") {
			t.Errorf("%s counts\n%s\n%s counts\n%s", one, got[0], list, got[1])
		}
	}
}

// An event of the script is a point of its own, beside the one that it is made of.
func TestListWithEvent(t *testing.T) {
	needTracing(t)
	e := startrace(t, "-q", script(t, `
n = count()
probe([event(("syscall:openat", lambda e: record(x = 1))), "syscall:openat"], lambda e: n[e.probe].add())
at_exit(lambda: print(n["syscall:openat"].value % 2))
`), "-c", "true").ok(t)
	if strings.TrimSpace(e.stdout) != "0" {
		t.Errorf("an event of the script is a point of its own: %s", e.stdout)
	}
}
