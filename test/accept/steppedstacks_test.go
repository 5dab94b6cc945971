package accept

import (
	"strings"
	"testing"
)

// stepped is a program with a function that begins with an instruction which the kernel has to run in a copy, for it
// stores.
const stepped = `volatile long kept;
__attribute__((noinline, noclone)) void keep(long x) { kept = x; asm volatile(""); }
__attribute__((noinline, noclone)) void caller(long n) { for (long i = 0; i < n; i++) keep(i); asm volatile(""); }
int main(void) { caller(30000); return 0; }
`

// A stack that is taken while the thread steps through the copy of an instruction on which a uprobe stands is that of
// the instruction itself: the same as without the uprobe, by rules of frames and by frame pointers.
func TestSteppedStacks(t *testing.T) {
	const tables, pointers = "gcc -O2", "gcc -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables"
	for event, usual := range map[string]string{"watchpoint:BIN:kept:8:w": "keep caller main", "profile:4999hz": ""} {
		for _, command := range []string{tables, pointers} {
			got := printed(t, command, "stepped.c", stepped, `
n, stacks = count(), count(by=("stack",))
probe("uprobe:BIN:keep", lambda e: n.add())
probe("`+event+`", lambda e: stacks[e.ustack(3)].add())
at_exit(lambda: print(set([" ".join([f.name for f in k]) for k, _ in stacks.items()])))
`)
			if strings.Contains(got, "[uprobes]") || !strings.Contains(got, "keep") {
				t.Errorf("%s: %s: the stacks are %s, want some of keep and none of a copy", command, event, got)
			}
			if usual != "" && command == tables && !strings.HasPrefix(got, `set(["`+usual+`"]), `) {
				t.Errorf("%s: %s: the stacks are %s, want only %s", command, event, got, usual)
			}
		}
	}
}
