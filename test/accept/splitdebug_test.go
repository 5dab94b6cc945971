package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// typedOrders calls a function with types of each kind, once.
const typedOrders = `#include <cstdio>
#include <string>
#include <vector>
namespace shop {
enum state { IDLE = 3, BUSY };
struct item { int id; long price; std::string name; };
struct order { item *first; state st; std::vector<int> list; unsigned bits : 5, more : 3; item in; };
}
extern "C" __attribute__((noinline)) long checkout(shop::order *o, const shop::item &it, int n) {
  int local = n * 2;
  return o->in.price + it.id + local;
}
int main() {
  shop::item a{1, 100, "one"};
  shop::order o{&a, shop::BUSY, {1, 2, 3}, 9, 2, {2, 200, "two"}};
  printf("%ld\n", checkout(&o, a, 4));
}
`

// Types that have units of their own are read as others, in both forms of DWARF.
func TestTypesInUnitsOfTheirOwn(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, compiler := range []string{"g++", "clang++"} {
		for _, version := range []int{4, 5} {
			command := fmt.Sprintf("%s -O0 -g -gdwarf-%d -fdebug-types-section", compiler, version)
			binary := need.Built(t, command, "orders.cc", typedOrders)
			e := startrace(t, "-q", script(t, strings.ReplaceAll(`
def f(e):
    o = e.args.o
    print(o.first.name, names(o.st), o.list, o.bits, o.more, o.in_.price, e.args.it.id, e.args.n,
        cast("BIN:shop::order", e.args[0]).in_.id, sizeof("BIN:shop::item"))
probe("uprobe:BIN:checkout", f)
`, "BIN", binary)), "-c", binary).ok(t)
			equalLines(t, lines(e.stdout), []string{"209", "one BUSY (1, 2, 3) 9 2 200 1 4 2 48"})
		}
	}
}

// Debug information in files of its own is not read, and a message says so.
//
// > Debug information in files of its own (`gcc -gsplit-dwarf`) is not read, and a message says so.
// > The functions of such a program are as without debug information.
func TestSplitDebugInformation(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, compiler := range []string{"g++", "clang++"} {
		for _, version := range []int{4, 5} {
			command := fmt.Sprintf("%s -O0 -g -gdwarf-%d -gsplit-dwarf", compiler, version)
			dir := t.TempDir()
			t.Chdir(dir) // clang puts the file there
			binary := need.Built(t, command, "orders.cc", typedOrders)
			for _, body := range []string{"print(e.args.n)", "print(e.args.o.st)"} {
				e := startrace(t, script(t, `probe("uprobe:`+binary+`:checkout", lambda e: `+body+`)`), "-c", binary)
				const message = "the debug information of this function is in a file of its own, "
				_, file, said := strings.Cut(e.stderr, message)
				if e.status == 0 || !said || !strings.Contains(file, "orders") || !strings.Contains(file, ".dwo") {
					t.Errorf("%s: %d\n%s", command, e.status, e.stderr)
				}
			}
			text := `probe("ufunc:` + binary + `:checkout", lambda e: print(e.start.args[2], e.ret))`
			e := startrace(t, "-q", script(t, text), "-c", binary).ok(t)
			equalLines(t, lines(e.stdout), []string{"209", "4 209"})
		}
	}
}
