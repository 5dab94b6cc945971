package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// What is made of a list that was cut, and would be another of the whole list, is told once for each place.
//
// > Where the elements that were not read could make another result of a user half's `in`, `==`, `sum`, `max`, `min`,
// > `sorted`, `any` or `all`, a warning says so, once for each place in the script.
// > `len` at the event itself, as in `len(e.args.order.prices)`, is how many there are.
func TestCutListsAreTold(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	const source = `#include <vector>
struct order { std::vector<int> l; };
__attribute__((noinline)) int look(order *o) { asm volatile(""); return o->l.size(); }
int main() {
	order o;
	for (int i = 0; i < 100; i++)
		o.l.push_back(i);
	look(&o);
	look(&o);
	o.l.resize(64);
	look(&o);
}
`
	binary := need.Built(t, "g++ -g -O0", "cut.cc", source)
	names := map[string]string{"99 in l": "in", "99 not in l": "not in", "l == whole": "==", "whole != l": "!=",
		"l == whole[:64]": "==", "sum(l)": "sum", "max(l)": "max", "min(l)": "min", "sorted(l)": "sorted",
		"any(l[:1] + l[64:])": "any", "all(l[1:])": "all",
		"99 in e.args.o.l": "in", "e.args.o.l == whole": "=="}
	var told, silent []string
	for x := range names {
		told = append(told, x)
	}
	silent = append(silent, "3 in l", "l == (1, 2)", "l == tuple(range(1, 101))", "l == 5", "5 in whole", "any(l)",
		"all(l)", "99 in l[:3]", "sum(l[:3])", "len(e.args.o.l)", "l[:2] == (0, 1)", "None == l")
	for i, x := range append(told, silent...) {
		text := "whole = tuple(range(100))\ndef f(e):\n    l = e.args.o.l\n    " + x + "\nprobe('uprobe:" + binary +
			":look', f)\n"
		e := startrace(t, script(t, text), "-c", binary).ok(t)
		want := 0
		if i < len(told) {
			want = 1
		}
		said := " that were read, and " + names[x] + " is about these\n"
		if strings.Count(e.stderr, "warning") != want || want == 1 && !strings.Contains(e.stderr, said) {
			t.Errorf("%s: got %s", x, e.stderr)
		}
	}
}
