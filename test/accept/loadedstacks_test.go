package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// A library that a program loads while it runs: its stacks are whole, or say that they are too early, which is counted.
//
// > So can the stacks be that lead through a library in the first millisecond after a program has loaded it.
func TestStackOfLoadedLibrary(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	library := need.Built(t, "gcc -O2 -fomit-frame-pointer -shared -fPIC", "work.c", `#include <unistd.h>
void work(void) { volatile char room[100]; room[0] = 1; getppid(); room[1] = 2; }
`)
	program := need.Built(t, "gcc -O2 -fomit-frame-pointer", "loads.c", `#include <dlfcn.h>
int main(int argc, char **argv)
{
	void (*work)(void) = (void (*)(void))dlsym(dlopen(argv[1], RTLD_NOW), "work");
	for (int i = 0; i < 2000; i++)
		work();
	return 0;
}
`)
	e := startrace(t, "--format", "folded", "-e", `n = count()
probe("t:syscalls:sys_enter_getppid", lambda e: n[e.ustack()].add())`, "-c", program+" "+library).ok(t)
	all, early := 0, 0
	for line := range strings.Lines(e.stdout) {
		n := number(t, line, `(?m) (\d+)$`)
		if all += n; strings.HasPrefix(line, "…;") {
			early += n
		} else if !strings.HasSuffix(strings.Fields(line)[0], "main;work;getppid") {
			t.Errorf("stack %s", line)
		}
	}
	said := strings.Contains(e.stderr, "taken before it was known what the program has mapped")
	if all != 2000 || said != (early > 0) {
		t.Errorf("%d calls, want 2000; %d are too early, said %q", all, early, e.stderr)
	}
}
