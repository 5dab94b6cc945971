package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// A type of the kernel by which a script reads what a program's pointer leads to reads the program's memory: the
// address decides.
func TestKernelTypesInUserMemory(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -O1", "connect.c", `
#include <arpa/inet.h>
#include <sys/socket.h>
__attribute__((noinline)) void take(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
int main(void) {
	struct sockaddr_in to = {AF_INET, htons(4242), {htonl(0x7f000001)}};
	take(&to);
	connect(socket(AF_INET, SOCK_DGRAM, 0), (void *)&to, sizeof to);
}
`)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(`
def read(p):
    a = cast("struct sockaddr_in", p)
    return (a.sin_family, ntohs(a.sin_port), inet(a.sin_addr.s_addr), cast("struct sockaddr_in *", p)[0].sin_family)
where = lambda e: cast("struct sockaddr_in", e.args[0]).sin_family == 2
probe("syscall:connect", lambda e: print("connect", *read(e.args.uservaddr)))
probe("syscall:connect", lambda e: print("connect", *e.value), kernel = lambda e: read(e.args.uservaddr))
probe("ufunc:BIN:take", lambda e: print("take", *read(e.start.args[0])), where = where)
probe("uprobe:BIN:take", lambda e: print("take", *e.value), kernel = lambda e: read(e.args[0]), where = where)
`, "BIN", binary)), "-c", binary).ok(t)
	for _, word := range []string{"connect", "take"} {
		if strings.Count(e.stdout, word+" 2 4242 127.0.0.1 2\n") != 2 {
			t.Errorf("%s is not read twice as it is:\n%s", word, e.stdout)
		}
	}
}
