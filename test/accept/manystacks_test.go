package accept

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
	"github.com/startrace/startrace/test/tried"
)

// manyStacks is a program with thousands of stacks: which function calls which is by the bits of a number.
const manyStacks = `
#include <unistd.h>
volatile unsigned sink;
static unsigned walk(unsigned bits, int depth);
#define ONE(name) static __attribute__((noinline)) unsigned name(unsigned bits, int depth) \
	{ sink += walk(bits >> 2, depth - 1); return sink; }
ONE(north) ONE(east) ONE(south) ONE(west)
static __attribute__((noinline)) unsigned walk(unsigned bits, int depth)
{
	if (depth == 0) { getppid(); return 1; }
	switch (bits & 3) {
	case 0: return north(bits, depth) + 1;
	case 1: return east(bits, depth) + 1;
	case 2: return south(bits, depth) + 1;
	default: return west(bits, depth) + 1;
	}
}
int main(void)
{
	for (unsigned i = 0; i < 6000; i++) sink += walk(i * 2654435761u, 16);
	return 0;
}
`

// Thousands of stacks with lines take more than a small control group leaves: they are printed without what there is no
// room for, or the run ends with a message, and the kernel never ends it without one.
func TestManyStacksInSmallGroups(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -O1 -g", "many.c", manyStacks)
	limits := []int{48, 56, 64, 80}
	for _, flags := range [][]string{nil, {"--lines"}} {
		for _, mb := range limits {
			t.Run(fmt.Sprintf("%d MB %s", mb, strings.Join(flags, "")), func(t *testing.T) {
				words := append([]string{"-c", `echo $$ >"$0" && exec "$@"`, limited(t, mb<<20),
					program(t, "startrace"), "stack", "syscall:getppid", "--user-stacks", "-c", binary}, flags...)
				cmd := exec.Command("sh", words...)
				var stderr strings.Builder
				cmd.Stderr = &stderr
				if err := cmd.Run(); cmd.ProcessState.ExitCode() < 0 ||
					err != nil && !strings.Contains(stderr.String(), "(cgroup) of startrace leaves") {
					t.Errorf("%v: %s", err, excerpt(stderr.String()))
				}
			})
		}
	}
	tried.Many(t, "%d limits", 2*len(limits))
}
