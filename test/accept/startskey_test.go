package accept

import (
	"testing"
)

// The handler of a start runs behind the key: on the side where it is placed by itself, and
// in user space.
//
// > The handler does not run where the key of the span is None.
func TestStartsAndKeys(t *testing.T) {
	needTracing(t)
	calls := []string{"raw", rawCall(t, "lseek", ",3e7,5,0"), rawCall(t, "lseek", ",3e7,5,1"),
		rawCall(t, "lseek", ",3e7,5,2")}
	for _, note := range []string{"", "    sprintf(\"here\")\n"} {
		e, _ := traced(t, `
begun = count()
ended = count()
seeks = span("tracepoint:syscalls:sys_enter_lseek", "tracepoint:syscalls:sys_exit_lseek",
             key = (lambda e: e.tid if e.args.whence != 1 else None, lambda e: e.tid))
def begin(e):
`+note+`    begun[e.args.whence].add()
probe(seeks, lambda e: ended[e.start.args.whence].add(), start = begin, where = lambda e: e.comm == "wl-raw")
at_exit(lambda: [print("begun", k, v) for k, v in begun.items()])
at_exit(lambda: [print("ended", k, v) for k, v in ended.items()])
`, nil, calls...)
		equalLines(t, append(sorted(e.stdout, "begun"), sorted(e.stdout, "ended")...),
			[]string{"begun 0 1", "begun 2 1", "ended 0 1", "ended 2 1"})
	}
}

// Keys that the script fixes, or that have no value: starts and ends of such a span belong together, and None alone
// means that this is no start.
func TestBareSpanKeys(t *testing.T) {
	needTracing(t)
	for key, pairs := range map[string]bool{
		"FAULT": true, "()": true, "record()": true, "record(x = None)": true, "(None, FAULT)": true,
		"errno(FAULT)": true, "FAULT if e.tid else None": true, "None": false, "None if e.tid else FAULT": false,
	} {
		e, _ := traced(t, `
seeks = span("tracepoint:syscalls:sys_enter_lseek", "tracepoint:syscalls:sys_exit_lseek", key = lambda e: `+key+`)
ended = count()
open = []
probe(seeks, lambda e: ended.add(), where = lambda e: e.comm == "wl-raw")
probe("tracepoint:syscalls:sys_exit_lseek", lambda e: open.append([k for k, _ in seeks.items()]))
at_exit(lambda: print("ended", ended.value))
`, nil, "raw", rawCall(t, "lseek", ",3e7,5,0"))
		want := "ended 0"
		if pairs {
			want = "ended 1"
		}
		if got := sorted(e.stdout, "ended"); len(got) != 1 || got[0] != want {
			t.Errorf("key %s: %q, want %s", key, got, want)
		}
	}
}
