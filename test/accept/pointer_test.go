package accept

import (
	"testing"

	"github.com/startrace/startrace/test/need"
)

const pointersOfC = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
int main(void) {
	static char room[70000];
	stack_t s = { .ss_sp = room, .ss_size = sizeof room };
	int fds[2];
	close(0); close(3); close(4);
	return sigaltstack(&s, 0) | pipe2(fds, O_CLOEXEC);
}
`

// What a pointer points to is found by all the names that C has for it, and by an index, in both halves.
//
// > `p[2]` is the third of the elements that p points to.
func TestPointers(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -O1", "pointers.c", pointersOfC)
	e := startrace(t, "-q", script(t, `
def ends(e):
    p = e.args.fildes
    return (p[0], p[1], cast("u16 *", p)[2], cast("u64 *", p)[0] >> 32, p[1] - p[0])

probe("syscall:pipe2", lambda e: print("kernel", *e.value), kernel = ends)
probe("syscall:pipe2", lambda e: print("user", *ends(e)))
probe("syscall:sigaltstack", lambda e: print("kernel", e.value), kernel = lambda e: e.args.uss.ss_size)
probe("syscall:sigaltstack", lambda e: print("user", e.args.uss.ss_size))
probe("t:syscalls:sys_enter_sigaltstack", lambda e: print("enter", e.args.uss.ss_size))
print(sizeof("struct list_head"), sizeof("u16"), sizeof("struct sock *"))
`), "-c", binary).ok(t)
	equalLines(t, sorted(e.stdout, ""), []string{"16 2 8", "enter 70000", "kernel 0 3 3 3 3", "user 0 3 3 3 3",
		"kernel 70000", "user 70000"})
}
