package accept

import "testing"

// Where returns are probed at the instructions that return (Go, C++), whatever is made of a uretprobe stands
// there: starts and ends of spans, by thread and by key, in lists, behind first() and event(). What is at the entry
// instead has other results, and spans of no time.
//
// > startrace recognises Go programs.
// > It never gives their functions return probes, which would end them, but probes the instructions where they return.
func TestReturnsAtInstructions(t *testing.T) {
	e := onTarget(t, "goroutines", `
enter, leave = "uprobe:BIN:main.negative", "uretprobe:BIN:main.negative"
one = lambda e: 1
left = event((leave, lambda e: record(got = e.ret)))
probe(leave, lambda e: print("alone", e.ret))
probe(left, lambda e: print("event", e.got))
probe(first(leave, enter), lambda e: print("first", e.ret))
probe(span(enter, leave, key = one), lambda e: print("call", e.start.args[0], e.ret))
probe(span(leave, enter, key = one), lambda e: print("between", e.start.ret, e.args[0]))
probe(span(enter, left, key = one), lambda e: print("to event", e.start.args[0], e.got))
probe(span(left, enter, key = one), lambda e: print("from event", e.start.got, e.args[0]))
probe(span(enter, first(leave, enter), key = one), lambda e: print("to first", e.start.args[0], e.ret))
probe(span(leave, leave, key = one), lambda e: print("returns", e.start.ret, e.ret))
probe(span([enter, "uprobe:BIN:main.add"], [leave, "uretprobe:BIN:main.add"], key = one),
      lambda e: print("list", e.start.func, e.func, e.start.args[0], e.ret))
probe(span("uprobe:BIN:main.{add,negative}", "uretprobe:BIN:main.{add,negative}", key = lambda e: e.func),
      lambda e: print("pattern", e.func, e.start.args[0], e.ret))
probe(span("uprobe:BIN:main.nothing", "uretprobe:BIN:main.nothing", key = one), lambda e: print("at once"))
`, "1")
	equalLines(t, sorted(e.stdout, ""), []string{
		"0", "alone 0", "alone -1", "alone -2", "event 0", "event -1", "event -2", "first 0", "first -1", "first -2",
		"call 0 0", "call 1 -1", "call 2 -2", "between 0 1", "between -1 2",
		"to event 0 0", "to event 1 -1", "to event 2 -2", "from event 0 1", "from event -1 2",
		"to first 0 0", "to first 1 -1", "to first 2 -2", "returns 0 -1", "returns -1 -2",
		"list main.add main.add 0 (3, 0)", "list main.add main.add 1 (4, -1)", "list main.add main.add 2 (5, -2)",
		"list main.negative main.negative 0 0", "list main.negative main.negative 1 -1",
		"list main.negative main.negative 2 -2",
		"pattern main.add 0 (3, 0)", "pattern main.add 1 (4, -1)", "pattern main.add 2 (5, -2)",
		"pattern main.negative 0 0", "pattern main.negative 1 -1", "pattern main.negative 2 -2",
		"at once", "at once", "at once",
	})
}
