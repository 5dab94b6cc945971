package accept

import (
	"fmt"
	"testing"
)

// opened waits until a sleep is open, says what is known of it, and stops. The second span never ends: what its end
// asks of the start is kept all the same, under the script's names.
const opened = `
sleeps = span("tracepoint:syscalls:sys_enter_clock_nanosleep", "tracepoint:syscalls:sys_exit_clock_nanosleep")
keyed = span("tracepoint:syscalls:sys_enter_clock_nanosleep", "tracepoint:sched:sched_process_exec",
             key = (lambda e: (e.pid, e.comm), lambda e: (e.args.old_pid, "nobody")))
unused = span("tracepoint:syscalls:sys_enter_read", "tracepoint:syscalls:sys_exit_read")
probe(sleeps, lambda e: print("ended", e.duration, e.start.comm))
probe(keyed, lambda e: print("ended", e.start.args.flags, e.start.uid), start = lambda e: None)

def say(when):
    for tid, r in sleeps.items():
        print(when, "thread", tid > 0, r.comm, 0 < r.time and r.time < now(), type(r) == "record", hasattr(r, "uid"))
    for key, r in keyed.items():
        print(when, "key", key[0] > 0, key[1], r.flags, r.uid, 0 < r.time and r.time < now())
    print(when, unused.items())

said = [] # every() runs once more at the exit

def poll():
    if not said and sleeps.items() and keyed.items():
        said.append(True)
        say("running")
        exit()

every("10ms", poll)
at_exit(lambda: say("exit"))
`

// What is open can be read, at any time and at the exit.
func TestOpenSpans(t *testing.T) {
	needTracing(t)
	e := startrace(t, "-q", script(t, opened), "-c", "sleep 600").ok(t)
	want := ""
	for _, when := range []string{"running", "exit"} {
		want += fmt.Sprintf("%s thread True sleep True True False\n%s key True sleep 0 0 True\n%s []\n", when, when, when)
	}
	if e.stdout != want {
		t.Errorf("got\n%s\nwant\n%s", e.stdout, want)
	}
}
