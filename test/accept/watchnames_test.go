package accept

import (
	"runtime"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// namedInCpp writes each of its variables four times, and one that is local to each of two namespaces.
const namedInCpp = `
struct A { static int own; static inline int within = 3; };
int A::own = 1;
namespace n1 { int named = 5; namespace { int hidden = 6; } }
template<class T> struct box { static T most; };
template<class T> T box<T>::most = 9;
int plain = 2;
__attribute__((noinline)) void set(int k) {
	A::own = A::within = n1::named = n1::hidden = box<int>::most = box<long>::most = plain = k;
	__asm__ volatile("" : : "r"(&n1::hidden) : "memory");
}
int main() { for (int i = 0; i < 4; i++) set(i); }
`

// Variables of C++ are watched by their names of the source, colons and all.
//
// > A variable of C++ has its name of the source: `watchpoint:./shop:shop::limit:4:w`.
func TestWatchedVariablesOfCpp(t *testing.T) {
	needTracing(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("needs hardware watchpoints of amd64 (PERF_TYPE_BREAKPOINT): what those of arm64 count is not known")
	}
	binary := need.Built(t, "g++ -std=c++17 -O1 -pie -fPIE", "named.cc", namedInCpp)
	for _, names := range [][]string{{"A::own", "A::within", "n1::named"},
		{"n1::(anonymous namespace)::hidden", "box<int>::most", "plain"}} {
		text := "n = count()\n"
		for _, name := range names {
			text += `probe("watchpoint:` + binary + ":" + name + `:4:w", lambda e: n["` + name +
				`"].add(), where = lambda e: e.usermode)` + "\n"
		}
		text += "at_exit(lambda: [print(k, v) for k, v in n.items()])\n"
		e := startrace(t, "-q", script(t, text), "-c", binary).ok(t)
		equalLines(t, lines(e.stdout), strings.Split(strings.Join(names, " 4\n")+" 4", "\n"))
	}
}
