package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
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

// openStarts asks for calls of functions, and for starts of spans, whose fields of one name have several widths.
const openStarts = `
parts = lambda e: print(e.start.args.x, e.start.args.s, e.start.args.only, e.func)
calls = probe("ufunc:PROGRAM:{whole,narrow,wide}", parts)
asked = [probe("ufunc:PROGRAM:{whole,narrow,wide}", lambda e: print(e.start.args.x, e.start.pid))]
spans = span(["uprobe:PROGRAM:whole", "uprobe:PROGRAM:narrow", "uprobe:PROGRAM:wide"], "uprobe:PROGRAM:never",
             key = lambda e: e.time)
probe(spans, lambda e: print(e.start.args.x, e.start.args.only, e.start.func))
one = span("uprobe:PROGRAM:narrow", "uprobe:PROGRAM:never", key = lambda e: e.tid)
probe(one, lambda e: print(e.start.args.x, e.start.func, e.start.probe))
reads = probe("syscall:{read,recvfrom,mmap}", lambda e: print(e.func, e.start.args.fd, e.start.args.flags),
              where = lambda e: e.func == "recvfrom")

said = []

def poll():
    if said or len(calls.items()) < 3 or not reads.items():
        return
    said.append(True)
    for _, r in calls.items():
        print("call", r.depth, r.x, "-" if r.s == None else r.s, r.only)
    for _, r in asked[0].items():
        print("asked", r.depth, hasattr(r, "x"), type(r.pid))
    for r in sorted([r for _, r in spans.items()], key = lambda r: r.time):
        print("span", r.func, r.x, r.only)
    for _, r in one.items():
        print("one", r.func, r.probe == "uprobe:PROGRAM:narrow", r.x)
    for _, r in reads.items():
        print("read", r.probe, r.fd, r.flags)
    exit()

every("10ms", poll)
`

const openStartsText = `#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#define APART __attribute__((noipa))

APART void never(void) {}
APART long wide(long x, const char *s) { pause(); return x + s[0]; }
APART unsigned char narrow(unsigned char x, const char *s) { return wide(1234567890123, "wide") + x + s[0]; }
APART int whole(int x, long only) { return narrow(200, "narrow") + x + only; }

static void *receive(void *fd) {
	char c;
	return (void *)recv((long)fd, &c, 1, MSG_PEEK);
}

int main(int argc, char **argv) {
	int ends[2];
	pthread_t thread;
	/* The strings are in memory, so that the start can read them. */
	volatile char seen = "wide"[argc] + "narrow"[argc];
	socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
	dup2(ends[0], 105);
	pthread_create(&thread, NULL, receive, (void *)105L);
	return whole(-7, 1L << 40) + seen;
}
`

// What items() shows of a start is what that start has, whichever width it has at another, and None where it has none.
func TestOpenStarts(t *testing.T) {
	needTracing(t)
	program := need.Built(t, "gcc -g -O1 -pthread", "starts.c", openStartsText)
	text := strings.ReplaceAll(openStarts, "PROGRAM", program)
	e := startrace(t, "-q", script(t, text), "-c", program).ok(t)
	want := `call 0 -7 - 1099511627776
call 1 200 narrow None
call 2 1234567890123 wide None
asked 0 False int
asked 1 False int
asked 2 False int
span whole -7 1099511627776
span narrow 200 None
span wide 1234567890123 None
one narrow True 200
read syscall:recvfrom 105 2
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
