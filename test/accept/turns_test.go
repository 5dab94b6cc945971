package accept

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// A function that begins with the head of a loop is called as often as it returns: turns are told from calls, or it is
// said that they are not.
//
// > A compiler can make the first instruction of a function the head of a loop, as of
// > `struct node *last(struct node *x) { while (x->next) x = x->next; return x; }`.
// > A probe at its entry hits at each turn.
// > So `uprobe:` counts turns there, and says so on standard error when it is attached.
// > `startrace list -v` says so, too.
// > `ufunc:` counts calls, and `e.start` and `e.duration` are those of the call.
// > `uretprobe:` of one such function by its name counts its returns.
func TestTurnsAreNoCalls(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	if runtime.GOARCH != "amd64" {
		t.Skip("needs amd64, for which compilers are known to do so")
	}
	turnsSource, err := os.ReadFile(filepath.Join("..", "target", "testdata", "turns.c"))
	if err != nil {
		t.Fatal(err)
	}
	const warning = "begins with the head of a loop"
	for _, c := range []struct {
		command string
		turns   string // what uprobe:last counts
	}{{"gcc -g -O2 -fcf-protection=none", "2997"}, {"clang -g -O2", "2997"}, {"gcc -g -O2 -fcf-protection=full", "3"}} {
		binary := need.Built(t, c.command, "turns.c", string(turnsSource))
		count := func(point string) (n, said string) {
			e := startrace(t, "count", point, "-c", binary).ok(t)
			_, n, _ = strings.Cut(e.stdout, "counts: ")
			return strings.TrimSpace(n), e.stderr
		}
		n, said := count("uprobe:" + binary + ":last")
		if n != c.turns || strings.Contains(said, warning) != (n != "3") {
			t.Errorf("%s: uprobe counts %s: %q", c.command, n, said)
		}
		listed := startrace(t, "list", "-v", "uprobe:"+binary+":last").ok(t).stdout
		note := "it begins with the head of a loop: each turn counts as a call"
		if strings.Contains(listed, note) != (c.turns != "3") {
			t.Errorf("%s: %s", c.command, listed)
		}
		for point, want := range map[string]string{"uretprobe:BIN:last": "3", "ufunc:BIN:last": "3",
			"ufunc:BIN:spin": "3", "ufunc:BIN:{last,spin,plain,outer}": "12",
			"uprobe:BIN:plain": "3", "ufunc:BIN:plain": "3"} {
			n, said := count(strings.ReplaceAll(point, "BIN", binary))
			if n != want || strings.Contains(said, warning) || strings.Contains(said, "did not return") ||
				strings.Contains(said, "had no start") {
				t.Errorf("%s: %s counts %s: %q", c.command, point, n, said)
			}
		}
		e := startrace(t, "-q", "-e", `probe("ufunc:`+binary+`:last",
lambda e: print("got", e.start.args.x.v, e.ret.v))`, "-c", binary).ok(t)
		for _, want := range []string{"got 0 999\n", "got 1 999\n", "got 2 999\n"} {
			// clang does not say where the parameter is when the function is called.
			if !strings.Contains(e.stdout, want) && !strings.HasPrefix(c.command, "clang") {
				t.Errorf("%s: arguments: %q, want %q", c.command, e.stdout, want)
			}
		}
	}
}

// So it is on kernels that have replaced the return address at each turn and tell of each when the call ends: beside
// another call that is open, none of these ends is said to lack its start.
func TestTurnsWithinCalls(t *testing.T) {
	binary := traceable(t, "turns")
	for point, want := range map[string]string{"{last,spin,plain,outer}": "12", "{spin,outer}": "6", "last": "3"} {
		e := startrace(t, "count", "ufunc:"+binary+":"+point, "-c", binary).ok(t)
		if _, n, _ := strings.Cut(e.stdout, "counts: "); strings.TrimSpace(n) != want {
			t.Errorf("%s counts %s, want %s", point, n, want)
		}
		if found := alarms.FindString(e.stderr); found != "" {
			t.Errorf("%s: nothing was lost: %s", point, found)
		}
	}
}

// In Go, too, whose functions are probed at the instructions that return.
func TestTurnsOfGoAreNoCalls(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	if runtime.GOARCH != "amd64" {
		t.Skip("needs amd64, for which the compiler is known to do so")
	}
	binary := need.Built(t, "go build", "main.go", `package main

//go:noinline
func spin(p *int) {
	for {
		*p--
		if *p == 0 {
			return
		}
	}
}

func main() {
	for range 5 {
		k := 10
		spin(&k)
	}
}
`)
	for _, c := range []struct{ kind, want string }{{"uprobe", "50"}, {"ufunc", "5"}, {"uretprobe", "5"}} {
		e := startrace(t, "count", c.kind+":"+binary+":main.spin", "-c", binary).ok(t)
		if strings.TrimSpace(e.stdout) != "counts: "+c.want || strings.Contains(e.stderr, "did not return") ||
			strings.Contains(e.stderr, "begins with the head of a loop") != (c.kind == "uprobe") {
			t.Errorf("%s counts %q: %q", c.kind, e.stdout, e.stderr)
		}
	}
}

// leftByJump is called six times from one place, and left by a longjmp four times.
const leftByJump = `#include <setjmp.h>
#include <stdio.h>
static jmp_buf back;
void leave(void) { longjmp(back, 1); }
int seek(volatile int *p, int last);
__asm__(".globl seek\n.type seek, @function\nseek:\n\tcmpl %esi, (%rdi)\n\tje 1f\n\tdecl (%rdi)\n\tjne seek\n\tret\n"
        "1:\tsub $8, %rsp\n\tcall leave\n.size seek, .-seek\n");
int main(void) {
  volatile int calls = 0, v, i;
  for (i = 0; i < 6; i++) {
    v = 5, calls++;
    if (!setjmp(back)) seek(&v, i < 4 ? 3 : 9);
  }
  printf("%d\n", calls);
}
`

// What a longjmp has left is open, so that its next call from there looks like a turn of it. Returns are counted.
//
// > After a longjmp out of such a function the next call from the same place can be taken for a turn.
func TestTurnsAfterLongjmp(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	if runtime.GOARCH != "amd64" {
		t.Skip("needs amd64, in whose assembly the function is written")
	}
	binary := need.Built(t, "gcc -g -O1", "left.c", leftByJump)
	for kind, want := range map[string]string{"uprobe": "22", "ufunc": "2", "uretprobe": "2"} {
		e := startrace(t, "count", kind+":"+binary+":seek", "-c", binary).ok(t)
		equalLines(t, lines(e.stdout), []string{"6", "counts: " + want})
	}
}
