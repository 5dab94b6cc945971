package accept

import (
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// unlikeSource has functions whose arguments of one name differ in type, or are not there.
const unlikeSource = `
struct pt { int x; };
struct qt { long y; long x; };
#define N __attribute__((noipa))
N long first(int a, int b, struct pt *p) { return a; }
N long second(long a, short b, int c) { return a; }
N long third(int a, long b, struct qt *p) { return b; }
int main(void)
{
	struct pt p = { -1 };
	struct qt q = { -4, -3 };
	return first(-1, -2, &p) + second(-1, -2, -3) + third(-1, -2, &q) == 0;
}
`

// unlike asks at each point for what differs: widths, where a value comes from, which function a call runs.
const unlike = `
def f(x):
    return "f(%d)" % x
def g(x):
    return "g(%d)" % x
def of(x):
    return x.x if hasattr(x, "x") else x
def each(e):
    text = []
    for x in (e.args.a, e.args.b):
        text.append(sprintf("%x", x))
    text += [sprintf("%x", x) for x in (e.args.a, e.args.b)]
    p = e.args.p if hasattr(e.args, "p") else record(x = 77)
    y = e.args.p if hasattr(e.args, "p") else 5
    one = f if hasattr(e.args, "p") else str
    two = [f, g][e.args.b + 2] if hasattr(e.args, "p") else g
    print(e.func, *text)
    print(e.func, p.x, of(y), hasattr(y, "x"), one(e.args.a), two(e.args.a))
`

// Points of one probe that differ in what a place of the handler means give each what they give alone, in any order.
func TestPointsThatDiffer(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc -g -O0", "unlike.c", unlikeSource)
	const want = `first ffffffff fffffffe ffffffff fffffffe
first -1 -1 True f(-1) f(-1)
second ffffffffffffffff fffe ffffffffffffffff fffe
second 77 5 False -1 g(-1)
third ffffffff fffffffffffffffe ffffffff fffffffffffffffe
third -3 -3 True f(-1) f(-1)
`
	names := []string{"first", "second", "third"}
	for range names {
		var points []string
		for _, name := range names {
			points = append(points, `"ufunc:`+binary+":"+name+`"`)
		}
		code := unlike + "probe([" + strings.Join(points, ", ") + "], each)\n"
		if e := startrace(t, "-q", script(t, code), "-c", binary).ok(t); e.stdout != want {
			t.Errorf("%s: got\n%s\nwant\n%s", names, e.stdout, want)
		}
		names = append(slices.Clone(names[1:]), names[0])
	}
}
