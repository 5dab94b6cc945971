package accept

import (
	"fmt"
	"strings"
	"testing"
)

// Programs whose files are known have whole stacks from their first instruction on: the kernel says what they have
// mapped, and walks find the rules of these files. Here the tracer itself does not run while they do, and so has no
// part in that. Kernels before 5.17 do not say it, and then stacks say that they are too early.
//
// > A program that exec begins, or a library that was loaded, has its own as soon as the files are known: from 5.17 on
// > the kernel says what is mapped where there is no table yet.
// > So the stacks of a new process are whole at once if another one had its files mapped before.
// > Older kernels do not say it.
func TestStacksOfNewProcesses(t *testing.T) {
	bin := traceable(t, "chain-frameless")
	text := script(t, fmt.Sprintf("n = count()\nprobe(\"uprobe:%s:c\", kernel = lambda e: n[e.ustack()].add())\n", bin))
	e := startrace(t, "--format", "folded", text, "-c", bin+" alone 50").ok(t)
	whole, early := 0, 0
	for line := range strings.Lines(e.stdout) {
		switch n := number(t, line, `(?m) (\d+)$`); {
		case strings.HasPrefix(line, "_start;") && strings.HasSuffix(strings.Fields(line)[0], ";main;a;b;c"):
			whole += n
		default:
			early += n
		}
	}
	want := 50
	if !atLeast(t, 5, 17) {
		want = 0
	}
	said := strings.Contains(e.stderr, "taken before it was known what the program has mapped")
	if whole != want || whole+early != 50 || said != (want == 0) {
		t.Errorf("%d stacks are whole, %d early, want %d whole of 50; said %q:\n%s", whole, early, want, e.stderr,
			e.stdout)
	}
}

// A process of which it is not known yet what it has mapped: its stacks are whole, or say so.
//
// > The tables of a process are made when its first stack is seen, or when it begins.
// > Those of a file are made when it is seen first, which takes some milliseconds, of a large program (30 MB) some 60.
// > Until then code is unwound by frame pointers, and stacks through it say `taken before it was known what the program
// > has mapped`.
// > There a program that exec begins has its table about a millisecond later: what runs before, as the stacks of
// > programs that end at once, can be short (a third of 500 on a busy machine).
// > Where startrace itself has to wait for a CPU, that is later by as much, and the stacks of programs that live
// > shorter are all short.
func TestStackBeforeTables(t *testing.T) {
	bin := traceable(t, "chain-frameless")
	text := script(t, fmt.Sprintf("n = count()\nprobe(\"uprobe:%s:c\", lambda e: print(e.ustack()))\n", bin))
	e := startrace(t, text, "-c", bin+" brief 20").ok(t)
	begins := strings.Count(e.stdout, "    c (chain-frameless)\n")
	whole := strings.Count(e.stdout, "    _start+")
	early := strings.Count(e.stdout, "… not followed further: taken before it was known what the program has mapped")
	if begins != 20 || whole+early != 20 {
		t.Errorf("%d stacks, %d whole and %d early:\n%s", begins, whole, early, e.stdout)
	}
}
