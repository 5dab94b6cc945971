package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// What is asked at the start of a call has no e.start, and the message says what is meant instead.
func TestStartAtStart(t *testing.T) {
	binary := need.Built(t, "gcc -g", "s.c", `volatile int sink;
__attribute__((noinline)) int f(int a) { sink = a; return a; }
int main(void) { return f(3) == 4; }
`)
	for _, handlers := range []string{
		"lambda e: print(e.ret), start = lambda e: print(1), where = lambda e: e.start.args.a == 3",
		"lambda e: print(e.ret), start = lambda e: print(e.start.args.a)",
	} {
		for _, point := range []string{"ufunc:" + binary + ":f", "syscall:openat"} {
			e := startrace(t, "-e", `probe("`+point+`", `+handlers+`)`, "-c", binary)
			want := "has no e.start: this runs at the start of the call, where= too if there is a start=, so what is " +
				"meant is here without it: e.args.NAME for e.start.args.NAME"
			if e.status == 0 || !strings.Contains(e.stderr, want) {
				t.Errorf("%s: %s: got %s, want %s", point, handlers, e.stderr, want)
			}
		}
	}
}
