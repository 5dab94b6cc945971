package accept

import (
	"strings"
	"testing"
)

// Threads that are killed in their calls leave nothing behind: 300 in 60 calls each are more than a span has room for,
// and calls after them are seen.
//
// > Calls that have not ended when the run ends, or when their thread does, are no events and no losses.
// > `-v` says how many there were.
func TestKilledInCalls(t *testing.T) {
	for _, verbose := range []bool{false, true} {
		path := traceable(t, "calls")
		args := []string{script(t, strings.ReplaceAll(`
n = count()
p = probe("ufunc:BIN:{dies,negative}", lambda e: n[e.func].add())
at_exit(lambda: print("all", n.items(), len(p.items())))
`, "BIN", path)), "-c", path + " deaths 300"}
		if verbose {
			args = append([]string{"-v"}, args...)
		}
		e := startrace(t, args...).ok(t)
		if want := `all [("negative", 1)] 0`; !strings.Contains(e.stdout, want) {
			t.Errorf("got %s, want %s\nstderr: %s", e.stdout, want, e.stderr)
		}
		if strings.Contains(e.stderr, "lost") || strings.Contains(e.stderr, "never ended") ||
			strings.Contains(e.stderr, "did not return") {
			t.Errorf("what was left made losses: %s", e.stderr)
		}
		if said := strings.Contains(e.stderr, "startrace: 18000 calls of ufunc:"); said != verbose {
			t.Errorf("-v %v: says of 18000 calls that they have not ended: %v\n%s", verbose, said, e.stderr)
		}
	}
}

// What is open at the end of a run is told with -v, of spans of each kind.
func TestOpenAtTheEnd(t *testing.T) {
	needTracing(t)
	text := `
calls = probe("syscall:clock_nanosleep", lambda e: print("ended"))
keyed = probe(span("tracepoint:syscalls:sys_enter_clock_nanosleep", "tracepoint:syscalls:sys_exit_clock_nanosleep",
    key = lambda e: e.pid), lambda e: print("ended"), name = "keyed")
probe("tracepoint:syscalls:sys_enter_clock_nanosleep", lambda e: exit())
`
	for _, flags := range [][]string{{"-v"}, {"-q"}} {
		e := startrace(t, append(flags, script(t, text), "-c", "sleep 600")...).ok(t)
		for _, line := range []string{"1 call of syscall:clock_nanosleep had begun and not ended",
			"1 call of keyed had begun and not ended"} {
			if said := strings.Contains(e.stderr, "startrace: "+line+"\n"); said != (flags[0] == "-v") {
				t.Errorf("%v: says %q: %v\n%s", flags, line, said, e.stderr)
			}
		}
	}
}
