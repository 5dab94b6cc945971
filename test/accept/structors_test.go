package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// One construction or destruction is one call, though compilers make several functions of a constructor and of a
// destructor, of which some call others.
//
// > Of a constructor or a destructor of C++ a compiler makes several functions, which can call each other: one object
// > is one call.
func TestStructors(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	const source = `#include <cstdio>
static long made, ended, mades, endeds;
static volatile int sink;
#define APART __attribute__((noinline))
struct item { virtual ~item() {} };
struct cart : item {
	int n;
	APART cart(int n) : n(n) { made++; sink = n; puts("made"); }
	APART ~cart() { ended++; sink = n; puts("ended"); }
};
struct shared : virtual item {
	APART shared(int n) { mades++; sink = n; puts("made"); }
	APART ~shared() { endeds++; puts("ended"); }
};
struct part : shared { part(int n) : shared(n) {} };
APART void end(item *i) { delete i; }
int main(int argc, char **argv) {
	for (int i = 0; i < 5; i++)
		end(new cart(i));
	cart local(3);
	cart *one = new cart(4);
	one->~cart();
	{ shared a(1); part b(2); end(new part(3)); end(new shared(4)); }
	printf("cart::cart=%ld cart::~cart=%ld shared::shared=%ld shared::~shared=%ld\n", made, ended, mades, endeds);
	fflush(stdout);
	asm volatile("syscall" : : "a"(231), "D"(0));
}
`
	for _, command := range []string{"g++ -g -O0", "g++ -g -O2", "g++ -O2", "clang++ -g -O0", "clang++ -O0",
		"clang++ -g -O2"} {
		binary := need.Built(t, command, "cart.cc", source)
		for _, kind := range []string{"uprobe", "ufunc"} {
			for _, names := range [][2]string{
				{"cart::cart", "cart::~cart"}, {"shared::shared", "shared::~shared"}, {"cart::*", "shared::*"},
			} {
				e := startrace(t, "-q", script(t, strings.NewReplacer("BIN", binary, "KIND", kind, "FIRST", names[0],
					"SECOND", names[1]).Replace(`
n = count()
probe(["KIND:BIN:FIRST", "KIND:BIN:SECOND"], lambda e: n[e.func].add())
at_exit(lambda: print("seen", " ".join(["%s=%d" % item for item in sorted(n.items())])))
`)), "-c", binary).ok(t)
				said := e.stdout[strings.Index(e.stdout, "cart::cart="):]
				_, seen, _ := strings.Cut(said, "seen ")
				said, _, _ = strings.Cut(said, "\n")
				if seen = strings.TrimSpace(seen); !strings.Contains(said, seen) || seen == "" {
					t.Errorf("%s: %s %s: %q, seen %q", command, kind, names, said, seen)
				}
			}
		}
	}
}
