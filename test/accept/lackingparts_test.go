package accept

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

const lackingSource = `__attribute__((noinline)) int first(int a) { __asm__ volatile(""); return a + 1; }
__attribute__((noinline)) int second(int a) {
    int twice = 2 * a;
    __asm__ volatile("");
    return twice;
}
int main(void) { return first(1) + second(2) == 0; }
`

// lackingPoints are points that lack some parts of an event: what each shows, in the order of lackingParts.
var lackingPoints = []struct{ point, shows string }{
	{`"uprobe:BIN:first"`, "None None None 1 -"}, {`"uprobe:BIN:lacking.c:5"`, "None None None None 4"},
	{`"uretprobe:BIN:first"`, "2 None None None -"}, {`"ufunc:BIN:first"`, "2 True 0 1 -"},
	{`"syscall:exit_group"`, "None 0 0 None -"}, {`calls`, "None True 0 2 -"}, {`made`, "None None None 7 -"},
}

// lackingParts are the parts that some of the points have.
const lackingParts = `
calls = span("uprobe:BIN:first", "uprobe:BIN:second")
made = event(("uprobe:BIN:second", lambda e: record(a = 7)))
def look(e):
    x = e.a if hasattr(e, "a") else e.args.a
    print(e.ret, e.duration and e.duration > 0, e.depth, x, e.vars.twice if hasattr(e, "vars") else "-")
`

// What a point lacks of what others of the list have is None, whatever stands in the list and in which order:
// functions, lines, returns, calls, spans, and points of the script's own.
//
// > What else only some points have, as `e.vars` and `e.ip`, is asked for first:
// > `e.vars.n if hasattr(e, "vars") else None`.
func TestPartsThatPointsLack(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -g -O0", "lacking.c", lackingSource)
	all := lackingPoints[3] // which has all parts
	for i, a := range lackingPoints {
		for j, b := range lackingPoints[i:] {
			list, want := []string{a.point, b.point, all.point}, []string{a.shows, b.shows, all.shows}
			if j == 0 || a == all || b == all {
				list, want = []string{a.point, all.point}, []string{a.shows, all.shows}
			}
			if a == all {
				list, want = []string{b.point, all.point}, []string{b.shows, all.shows}
			}
			slices.Reverse(list[:len(list)-i%2])
			text := lackingParts + fmt.Sprintf("probe([%s], look)\n", strings.Join(list, ", "))
			e := startrace(t, "-q", script(t, strings.ReplaceAll(text, "BIN", binary)), "-c", binary)
			got := strings.Split(strings.TrimSpace(e.stdout), "\n")
			slices.Sort(got)
			slices.Sort(want)
			want = slices.Compact(want)
			if !slices.Equal(slices.Compact(got), want) {
				t.Errorf("[%s]: got %q, want %q\n%s", strings.Join(list, ", "), got, want, e.stderr)
			}
		}
	}
}
