package accept

import (
	"fmt"
	"os/exec"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// endedProcess starts a child, which ends at once, and says its number: while nobody has waited for it, and then
// behind that without an end. With an argument it says without an end whether the process of that number is gone.
const endedProcess = `
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) void told(int pid, int waited) { __asm__ volatile("" : : "r"(pid), "r"(waited) : "memory"); }
int main(int argc, char **argv) {
	siginfo_t info;
	for (int pid = argc > 1 ? atoi(argv[1]) : 0; pid; usleep(1000))
		told(pid, kill(pid, 0) != 0);
	int child = fork();
	if (child == 0)
		_exit(0);
	waitid(P_PID, child, &info, WEXITED | WNOWAIT);
	for (int i = 0; i < 100; i++)
		told(child, 0);
	waitpid(child, 0, 0);
	for (;;) {
		told(child, 1);
		usleep(1000);
	}
}
`

// A process that has ended and that an event names is traced until its parent has waited for it, and no longer.
//
// > An event can name a process that has ended. With `-c` and `-f` that is traced until its parent has waited for it
// > and the kernel has given back its memory, some milliseconds later.
func TestEndedProcessNamed(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -g -O1", "ended.c", endedProcess)
	e := startrace(t, "-q", script(t, `
all, seen = table(), table()

def named(e):
    all[e.args.waited] += 1
    return record(pid = e.args.pid, waited = e.args.waited)

def counted(e):
    seen[e.waited] += 1

def ended():
    if seen.get(0, 0) == 100 and all.get(1, 0) > seen.get(1, 0) + 1:
        exit()

probe(event(("uprobe:`+binary+`:told", named)), counted)
every("5ms", ended)
at_exit(lambda: print(all[0], seen[0]))
`), "-c", binary).ok(t)
	equalLines(t, lines(e.stdout), []string{"100 100"})
}

// One of several processes is traced to the end of the run.
//
// > With several processes of `-p`, without `-f`, it is traced to the end of the run.
func TestEndedProcessOfSeveral(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -g -O1", "ended.c", endedProcess)
	one := exec.Command("sleep", "1000")
	if err := one.Start(); err != nil {
		t.Fatal(err)
	}
	teller := exec.Command(binary, fmt.Sprint(one.Process.Pid))
	if err := teller.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = teller.Process.Kill()
		_ = teller.Wait()
	})
	r := start(t, "-q", script(t, `
seen = table()

def counted(e):
    seen[e.gone] += 1
    if seen.get(1, 0) == 200:
        print("still traced")
        exit()

probe(event(("uprobe:`+binary+`:told", lambda e: record(pid = e.args.pid, gone = e.args.waited))), counted)
`+attached), "-p", fmt.Sprintf("%d,%d", one.Process.Pid, teller.Process.Pid))
	r.await(t, "attached")
	_ = one.Process.Kill()
	_ = one.Wait()
	equalLines(t, lines(r.end(t).ok(t).stdout), []string{"still traced"})
}
