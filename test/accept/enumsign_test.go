package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// An enum has the sign of the type that it is made of, also where that has a name and one of its values has the highest
// bit.
func TestEnumsOfUnsignedTypes(t *testing.T) {
	needTracing(t)
	const source = `
#include <stdint.h>
enum class named : uint64_t { none, all = UINT64_MAX };
typedef uint8_t flags;
enum class small : flags { none, all = 255 };
enum class below : int64_t { none = -1 };
struct all { named n; small s; below b; };
extern "C" __attribute__((noinline)) void seen(named n, small s, below b, all *a) { asm volatile("" : : "r"(a)); }
int main() { all a{named::all, small::all, below::none}; seen(a.n, a.s, a.b, &a); }
`
	for _, compiler := range []string{"g++ -g -O0", "clang++ -g -O0"} {
		binary := need.Built(t, compiler+" -std=c++17", "enums.cc", source)
		text := strings.ReplaceAll(`
def show(e):
    a = e.args.a
    print(e.args.n, e.args.s, e.args.b, a.n, a.s, a.b, names(a.n), a.n > 0, a.n == 0xffffffffffffffff)
probe("uprobe:BIN:seen", show)
n = count()
probe("uprobe:BIN:seen", lambda e: n[e.args.n, e.args.a.n].add(), where = lambda e: e.args.a.n > 0 and e.args.a.s > 0)
at_exit(lambda: print(n.items()))
`, "BIN", binary)
		e := startrace(t, "-q", script(t, text), "-c", binary).ok(t)
		const max = "18446744073709551615"
		want := max + " 255 -1 " + max + " 255 -1 all True True\n[((" + max + ", " + max + "), 1)]\n"
		if e.stdout != want {
			t.Errorf("%s: got %q, want %q", compiler, e.stdout, want)
		}
	}
}
