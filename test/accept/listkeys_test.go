package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// A list of the event is one part of a key in both halves, and it is shown alike however many elements it has.
//
// > So is a list of numbers of which each event says the length.
// > Such a list is shown as one also where it has one element, or none.
func TestListsInKeys(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	const source = `#include <vector>
struct order { std::vector<int> l; };
__attribute__((noinline)) int look(order *o) { asm volatile(""); return o->l.size(); }
int main() {
	order o;
	for (int i = 0; i < 3; i++) {
		for (int n = 0; n <= i; n++)
			look(&o);
		o.l.push_back(5 + i);
	}
}
`
	binary := need.Built(t, "g++ -g -O0", "lists.cc", source)
	const text = `
user = flag("whom", False)
n, m, t = count(by = ("l",)), count(), table(by = "l")
both = count(by = ("l", "k"))

def f(e):
    n[e.args.o.l].add()
    m[e.args.o.l].add()
    both[e.args.o.l, 7].add()
    t[e.args.o.l] = 8
    if user:
        sorted([1])

probe("uprobe:BINARY:look", f)
at_exit(lambda: show(t))
`
	for _, half := range [][]string{nil, {"--whom"}} {
		for format, wants := range map[string]string{
			"json": `"name":"n","key":{"l":[]},"value":1
"name":"n","key":{"l":[5]},"value":2
"name":"n","key":{"l":[5,6]},"value":3
"name":"m","key":[[]],"value":1
"name":"m","key":[[5]],"value":2
"name":"m","key":[[5,6]],"value":3
"name":"both","key":{"l":[],"k":7},"value":1
"name":"both","key":{"l":[5],"k":7},"value":2
"name":"both","key":{"l":[5,6],"k":7},"value":3
"name":"t","key":{"l":[]},"value":8
"name":"t","key":{"l":[5]},"value":8
"name":"t","key":{"l":[5,6]},"value":8`,
			"csv": `n,(),1
n,(5),2
n,"(5, 6)",3
m,(),1
m,(5),2
m,"(5, 6)",3
both,(),7,1
both,(5),7,2
both,"(5, 6)",7,3`,
		} {
			file := script(t, strings.ReplaceAll(text, "BINARY", binary))
			e := startrace(t, append(append([]string{"-q", "--format", format, file}, half...), "-c", binary)...).ok(t)
			for want := range strings.SplitSeq(wants, "\n") {
				if !strings.Contains(e.stdout, want) {
					t.Errorf("%q %s: no %s in\n%s", half, format, want, e.stdout)
				}
			}
		}
	}
}
