package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// lesser has variables that gcc keeps no register for, but says how they are computed from others, with jumps.
const lesser = `
static int used;
__attribute__((noinline)) void sink(int n) { used += n; asm volatile("" ::: "memory"); }
__attribute__((noinline)) int f(int a, int b, int c) {
  int least = a < b ? a : b;
  int most = a > c ? a : c;
  int size = a < 0 ? -a : a;
  sink(a);
  sink(b);
  sink(c);
  return 0;
}
int main(void) {
  for (int i = -3; i < 4; i++)
    f(i, 2, 1);
  return 0;
}
`

// A variable that is the one or the other by a condition is what the program means. Of what gcc says falsely, as the
// size of a negative int, there is no number.
func TestVariablesByConditions(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, level := range []int{1, 2, 3} {
		binary := need.Built(t, fmt.Sprintf("gcc -g -O%d", level), "lesser.c", lesser)
		text := `probe("uprobe:BIN:lesser.c:8", lambda e: print(e.vars.a, e.vars.least, e.vars.most, e.vars.size))`
		e := startrace(t, "-q", script(t, strings.ReplaceAll(text, "BIN", binary)), "-c", binary).ok(t)
		got := strings.Split(e.stdout, "\n")
		for i, a := range []int{-3, -2, -1, 0, 1, 2, 3} {
			least, most, size := min(a, 2), max(a, 1), max(a, -a)
			for k, want := range []int{a, least, most, size} {
				words := strings.SplitN(strings.ReplaceAll(at(got, i), "<optimized out>", "?"), " ", 4)
				if k >= len(words) || words[k] != fmt.Sprint(want) && words[k] != "?" {
					t.Errorf("-O%d: %q, want %d %d %d %d", level, at(got, i), a, least, most, size)
					break
				}
			}
		}
		if level == 2 && !strings.HasPrefix(at(got, 0), "-3 -3 1 ") {
			t.Errorf("%q: the lesser and the greater number are not known", at(got, 0))
		}
	}
}
