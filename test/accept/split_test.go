package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// splitCpp has a function of which g++ moves what seldom runs elsewhere, to a symbol whose name, demangled, is that of
// the function: split(int, int) [clone .cold].
const splitCpp = `
#include <cstdio>
#include <stdexcept>
#define OUT __attribute__((noinline))
volatile int sink;
__attribute__((cold, noinline)) void rare(int x) { sink = x; }
struct held { int n; held(int n) : n(n) {} ~held() { asm volatile("" ::: "memory"); } };
OUT int split(int x, int y) {
	if (x < 0) { rare(x); rare(y); sink = x; rare(x + 1); return -1; }
	sink += x; return x * 2 + y; }
struct K { OUT int member(int x) { try { held h(x); if (x > 2) throw std::runtime_error("x"); return x + sink * 0; }
	catch (std::exception &e) { rare(x); return -x; } } };
int main() { K k; for (int i = -2; i < 5; i++) { printf("%d\n", split(i, 9)); printf("%d\n", k.member(i)); } }
`

// A function that is split is one point by its name, which is entered and left once for each call, whichever part runs.
func TestSplitFunctionOfCpp(t *testing.T) {
	needTracing(t)
	file := need.Built(t, "g++ -g -O2 -fno-ipa-sra", "split.cc", splitCpp)
	for _, tt := range []struct{ point, want string }{
		{"split", "-2 -1\n-1 -1\n0 9\n1 11\n2 13\n3 15\n4 17"},
		{"split(int, int)", "-2 -1\n-1 -1\n0 9\n1 11\n2 13\n3 15\n4 17"},
	} {
		e := startrace(t, "-q", "-o", "/dev/stderr", "-e", `probe("ufunc:`+file+":"+tt.point+
			`", lambda e: print(e.start.args[0], e.ret))`, "-c", file).ok(t)
		if got := strings.TrimSpace(e.stderr); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.point, got, tt.want)
		}
	}
	for _, name := range []string{"split", "K::member", "K::member(int)", "spli*", "K::mem*"} {
		e := startrace(t, "-q", "-o", "/dev/stderr", "-e", "n = count()", "-e", `probe("uprobe:`+file+":"+name+
			`", lambda e: n.add())`, "-e", `at_exit(lambda: print("calls", n.value))`, "-c", file).ok(t)
		if got := number(t, e.stderr, `(?m)^calls (\d+)$`); got != 7 {
			t.Errorf("%s: counted %d calls, want 7: %s", name, got, e.stderr)
		}
	}
}

// Padding is part of the words of a struct, and a script takes the member.
//
// > What lies between the members of a struct, and behind them in 8 bytes, is part of the word and means nothing: of
// > `struct { long a; int b; }` the second word is `int32(e.args[1])`.
func TestPaddingOfStruct(t *testing.T) {
	needTracing(t)
	file := need.Built(t, "gcc -g -O0", "padded.c", `
struct padded { long a; int b; };
__attribute__((noinline)) long padded(struct padded p) { return p.a; }
int main(void) { struct padded p; __builtin_memset(&p, 0x55, sizeof p); p.a = -2; p.b = -3; return padded(p) != -2; }
`)
	e := startrace(t, "-q", "-e", `probe("ufunc:`+file+`:padded", `+
		`lambda e: print(e.start.args[0], int32(e.start.args[1])))`, "-c", file).ok(t)
	if e.stdout != "-2 -3\n" {
		t.Errorf("got %q, want -2 -3", e.stdout)
	}
}
