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
		want += fmt.Sprintf("%s thread True sleep True True False\n%s key True sleep 0 0 True\n%s []\n", when, when,
			when)
	}
	if e.stdout != want {
		t.Errorf("got\n%s\nwant\n%s", e.stdout, want)
	}
}

// openCalls asks for calls of the system that wait.
const openCalls = `
sleeps = probe("syscall:clock_nanosleep", lambda e: print("ended", e.start.comm))
both = probe("syscall:{clock_nanosleep,pause}", lambda e: None)
said = []

def waited(r):
    return 0 < r.time and r.time <= now()

def poll():
    if said or not sleeps.items():
        return
    said.append(True)
    for tid, r in sleeps.items():
        print("syscall", proc(tid).exe != None, r.probe, r.comm, waited(r))
    for tid, r in both.items():
        print("both", tid == sleeps.items()[0][0], r.probe, waited(r), hasattr(r, "comm"))
    exit()

every("10ms", poll)
at_exit(lambda: print("exit", len(sleeps.items()), len(both.items())))
`

// What calls are open can be asked of a probe, too.
//
// > `r.time` is kept where `p` is a variable whose `items()` the script calls.
// > A `where=` that runs at the end has not been asked yet.
func TestOpenCalls(t *testing.T) {
	needTracing(t)
	e := startrace(t, "-q", script(t, openCalls), "-c", "sleep 600").ok(t)
	want := `syscall True syscall:clock_nanosleep sleep True
both True syscall:clock_nanosleep True False
exit 1 1
`
	if e.stdout != want {
		t.Errorf("got\n%s\nwant\n%s", e.stdout, want)
	}
}

// openFunctions asks for functions that wait, one within the other.
const openFunctions = `
calls = probe("func:{hrtimer_nanosleep,do_nanosleep}", lambda e: print("ended", e.func))
said = []

def poll():
    if said or len(calls.items()) < 2:
        return
    said.append(True)
    for tid, r in calls.items():
        print(tid == r.tid and tid == r.pid, r.probe, r.depth, 0 < r.time and r.time <= now())
    exit()

every("10ms", poll)
`

func TestOpenFunctions(t *testing.T) {
	needKernelFunctions(t)
	e := startrace(t, "-q", script(t, openFunctions), "-c", "sleep 600").ok(t)
	want := "True func:hrtimer_nanosleep 0 True\nTrue func:do_nanosleep 1 True\n"
	if e.stdout != want {
		t.Errorf("got\n%s\nwant\n%s", e.stdout, want)
	}
}
