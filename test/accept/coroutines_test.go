package accept

import (
	"strings"
	"testing"
)

// A program that goes on with a stack at a lower address while a call is open lives, linked statically or not, and
// calls on each stack pair.
//
// > Nor is one replaced in programs that switch stacks, by `swapcontext`, `setcontext`, `jump_fcontext` or
// > `coroutine_transfer`, because the kernel forgets what it replaced on the other stack.
func TestStacksBelow(t *testing.T) {
	for _, name := range []string{"coroutines", "coroutines-shared"} {
		for _, kind := range []string{"ufunc", "uretprobe"} {
			e := onTarget(t, name, `probe("`+kind+`:BIN:{within,switches}", lambda e: print("call", e.func, e.ret))`,
				"below")
			equalLines(t, sorted(e.stdout, "call"), []string{"call switches 7", "call within 1", "call within 1",
				"call within 2", "call within 2", "call within 3"})
		}
	}
}

// The kernel ends a program that a return probe of a library's function meets on a stack that it has left.
//
// > Of the functions of libraries, as the C library, nobody knows who calls them.
// > A return probe of a call within which its program goes on with a stack at a lower address ends the program, by
// > SIGILL.
// > `uprobe:` does no harm.
func TestLibraryOnOtherStacks(t *testing.T) {
	path := traceable(t, "coroutines-shared")
	for kind, want := range map[string]string{"uretprobe": "132", "uprobe": "0"} {
		e := startrace(t, script(t, `n = count()`+"\n"+`probe("`+kind+`:c:fflush", lambda e: n.add())`+"\n"), "-c",
			"sh -c '"+path+" library; echo status $?'").ok(t)
		if !strings.Contains(e.stdout, "status "+want+"\n") {
			t.Errorf("%s: want status %s: %s%s", kind, want, e.stdout, e.stderr)
		}
	}
}

// > Some names stand for several functions, of which the program chooses one when it starts (`memcpy` of the C
// > library).
// > Such a name cannot be probed.
// > It is refused where a script names it, and left out of patterns.
// > A warning says so where the pattern has the name without `*`, and otherwise a note of `-v`.
func TestChosenFunctions(t *testing.T) {
	traceable(t, "coroutines-shared") // with which a libc comes
	const chosen = "is chosen among several when the program starts"
	for _, tt := range []struct {
		point, flag string
		status      int
		said        bool
	}{{"uprobe:c:memcpy", "--format=text", failedBeside, true}, {"uprobe:c:{memcpy,qsort}", "--format=text", 0, true},
		{"uprobe:c:{memcp*,qsort}", "--format=text", 0, false},
		{"uprobe:c:{memcp*,qsort}", "-v", 0, true}} {
		e := startrace(t, tt.flag, script(t, `probe("`+tt.point+`", lambda e: None)`+"\n"), "-c", "true")
		said := strings.Contains(strings.Join(strings.Fields(e.stderr), " "), chosen)
		if e.status != tt.status || said != tt.said {
			t.Errorf("%s %s: status %d, said %v: %s", tt.flag, tt.point, e.status, said, e.stderr)
		}
	}
}
