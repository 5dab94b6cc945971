package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// classConstants has members of classes that all objects share, and whose value the class says.
const classConstants = `#include <unistd.h>
struct K { static const unsigned long big = 0x8000000000000000ul; static const int less = -3;
	static constexpr unsigned char byte = 255; int n; };
namespace ns { struct Outer { struct Inner { static const int deep = 7; }; int n; }; }
struct Both { static const int defined = 12; int n; };
const int Both::defined;
K k; ns::Outer::Inner inner; ns::Outer outer; Both both;
__attribute__((noinline)) void fn(int n) { k.n = outer.n = both.n = n; asm volatile("" ::: "memory"); }
int main() {
	fn(K::big != 1 && K::less && K::byte && ns::Outer::Inner::deep && *(const volatile int *)&Both::defined);
	return sizeof inner > 1;
}
`

// A member of a class that all objects share is a variable, also where nothing but the class tells of it.
//
// > Of a class it is one that all objects share, `getattr(e.globals, "Shelf::limit")`, also of `static const` and
// > `constexpr`, of which only the class says the value.
func TestConstantsOfClasses(t *testing.T) {
	needTracing(t)
	names := []string{"K::big", "K::less", "K::byte", "Outer::Inner::deep", "ns::Outer::Inner::deep", "Both::defined"}
	commands := []string{"g++ -g -O0", "g++ -g -O2", "g++ -gdwarf-4 -O2", "clang++ -g -O0", "clang++ -g -O2"}
	for _, command := range commands {
		bin := need.Built(t, command, "constants.cc", classConstants)
		var asked []string
		for _, name := range names {
			asked = append(asked, `getattr(e.globals, "`+name+`")`)
		}
		code := `probe("uprobe:` + bin + `:fn", lambda e: print(">", ` + strings.Join(asked, ", ") + `))`
		e := startrace(t, "-q", "-e", code, "-c", bin).ok(t)
		if want := "> 9223372036854775808 -3 255 7 7 12\n"; e.stdout != want {
			t.Errorf("%s: got %q, want %q", command, e.stdout, want)
		}
	}
}
