package accept

import (
	"testing"
)

// The handler of a start runs behind the key: on the side where it is placed by itself, and
// in user space.
//
// > It does not run where the key of the span is None.
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
