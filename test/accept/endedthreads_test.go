package accept

import (
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// firstEnds is a program with three children whose first thread ends before another: that one ends the process with 7,
// SIGTERM does, or it ends itself after the first gave 5. It prints what wait(2) says of them.
const firstEnds = `#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_t first;
static int how;
static void *other(void *x) {
	pthread_join(first, 0);
	if (how == 0) exit(7);
	if (how == 1) { kill(getpid(), SIGTERM); for (;;) pause(); }
	syscall(SYS_exit, 0);
	return 0;
}
int main(void) {
	for (how = 0; how < 3; how++) {
		if (fork() == 0) {
			pthread_t t;
			first = pthread_self();
			pthread_create(&t, 0, other, 0);
			if (how == 2) syscall(SYS_exit, 5);
			pthread_exit(0);
		}
		int s;
		wait(&s);
		if (WIFSIGNALED(s))
			printf("signal %d (%s)\n", WTERMSIG(s), WTERMSIG(s) == SIGTERM ? "SIGTERM" : "another");
		else if (WEXITSTATUS(s))
			printf("code %d\n", WEXITSTATUS(s));
		else
			printf("0\n");
	}
}
`

// What exitsnoop says of a process is what who waits for it is told.
func TestExitsnoopOfFirstThreads(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc -pthread", "first.c", firstEnds)
	e := startrace(t, "-q", "exitsnoop", "-c", binary).ok(t)
	var told, seen []string
	for _, line := range lines(e.stdout) {
		switch words := strings.Fields(line); {
		case words[0] == "first" && words[4] != "0":
			seen = append(seen, strings.Join(words[4:], " "))
		case words[0] == "code" || words[0] == "signal":
			told = append(told, line)
		}
	}
	slices.Sort(seen)
	if !slices.Contains(told, "code 7") || !slices.Contains(told, "signal 15 (SIGTERM)") {
		t.Fatalf("the program says %q", told)
	}
	equalLines(t, seen, told)
}

// A thread that ended leaves its CPU once more, which offcputime and cpudist must not take for waiting. The last of the
// threads can do so after startrace has been told that the command ended.
func TestThreadsThatEndedLeaveTheCPU(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc -pthread", "first.c", firstEnds)
	e := startrace(t, "-q", "-e", `load("std/sched.star", "ended")
n = table()
def left(e):
    if e.args.prev_pid != 0 and ended(e.args.prev_state):
        n[e.args.prev_pid] = n.get(e.args.prev_pid, 0) + 1

probe("tracepoint:sched:sched_switch", left)
at_exit(lambda: print("ended", len(n), max(n.values())))
`, "-c", binary).ok(t)
	if got := lines(e.stdout); !slices.Contains(got, "ended 7 1") && !slices.Contains(got, "ended 6 1") &&
		!slices.Contains(got, "ended 5 1") {
		t.Errorf("got %q, want each of seven threads once, but perhaps the last two", got)
	}
}
