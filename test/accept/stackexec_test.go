package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// turns is a program that calls inner by two functions and then becomes the next of the programs that it is given.
// Built with other names for these functions, it has the same code at the same addresses.
const turns = `
#include <unistd.h>
__attribute__((noinline)) void inner(void) { __asm__ volatile(""); }
__attribute__((noinline)) void SECOND(void) { inner(); __asm__ volatile(""); }
__attribute__((noinline)) void FIRST(void) { SECOND(); __asm__ volatile(""); }
int main(int argc, char **argv)
{
	FIRST();
	if (argc > 1)
		execv(argv[1], argv + 1);
	return 0;
}
`

// What a process becomes by exec has its own names, also where its addresses are those of the program before.
func TestStackOfExecs(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	const flags = "gcc -O1 -static -no-pie -fno-pie -fno-optimize-sibling-calls"
	one := need.Built(t, flags+" -DFIRST=one -DSECOND=uno", "turns.c", turns)
	two := need.Built(t, flags+" -DFIRST=two -DSECOND=due", "turns.c", turns)
	text := script(t, fmt.Sprintf(`
def tell(e):
    print(" ".join([f.name for f in e.ustack()][:3]))
probe("uprobe:%s:inner", tell)
probe("uprobe:%s:inner", tell)
`, one, two))
	const times = 12 // fewer programs than are remembered of one process
	e := startrace(t, "-q", text, "-c", one+strings.Repeat(" "+two+" "+one, times)).ok(t)
	counts := map[string]int{}
	for line := range strings.Lines(e.stdout) {
		counts[strings.TrimSpace(line)]++
	}
	// Without tables and frame pointers the way ends behind the caller of inner.
	first, second := 0, 0
	for line, n := range counts {
		switch {
		case strings.HasPrefix(line, "inner uno"):
			first += n
		case strings.HasPrefix(line, "inner due"):
			second += n
		}
		if strings.Contains(line, "uno two") || strings.Contains(line, "due one") {
			t.Errorf("frames of both programs: %s", line)
		}
	}
	if first != times+1 || second != times {
		t.Errorf("%d of one and %d of two, want %d and %d: %v", first, second, times+1, times, counts)
	}
}

// A program within exec has no stack any more: what it was is gone, and nothing has run yet of what it becomes. Where
// the kernel does not say what is mapped, before 5.17, a stack is at most one address that says it is too early.
//
// > A program within exec has no stack.
func TestStackWithinExec(t *testing.T) {
	bin := traceable(t, "chain-frameless")
	text := `probe("t:task:task_rename", lambda e: print(str(e.ustack()).replace("\n", "")))`
	e := startrace(t, "-q", "-e", text, "-c", bin+" brief 20").ok(t)
	none := strings.Count(e.stdout, "(no user stack: ")
	all := strings.Count(e.stdout, "\n")
	if early := strings.Count(e.stdout, "before it was known"); none+early != all || all < 20 ||
		atLeast(t, 5, 17) && none != all {
		t.Errorf("%d programs begin, %d of them have no stack:\n%s", all, none, e.stdout)
	}
}
