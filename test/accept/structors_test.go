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

// So it is where they were inlined: a wrapper with what it wraps, only the wrapper, or what it wraps into the wrapper.
// What is not seen is told.
//
// > g++ says nothing of what it has inlined into a thunk, which is a copy of a virtual function for calls through a
// > base class. A message tells how many such places are not seen.
func TestInlinedStructors(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	const source = `#include <cstdio>
static long made, ended;
static volatile int sink;
#define MUCH for (int i = 0; i < n; i++) { printf("%d", i); sink += i; puts("x"); if (sink == 3) puts("a"), puts("b"); }
struct item { virtual ~item() {} int i = 1; };
struct big : virtual item {
	int n;
	big(int k) : n(k) { made++; MUCH }
	~big() { ended++; MUCH }
};
struct small : virtual item {
	int n;
	small(int k) : n(k) { made++; sink = k; }
	~small() { ended++; sink = n; }
};
struct bigpart : big { bigpart(int k) : big(k) {} };
struct smallpart : small { smallpart(int k) : small(k) {} };
__attribute__((noinline)) void end(item *i) { delete i; }
int main() {
	{ big a(1); big b(2); bigpart c(1); puts("end"); }
	end(new big(1)); end(new bigpart(1)); delete new big(3); delete new bigpart(2);
	printf("\nbig::big=%ld big::~big=%ld ", made, ended);
	made = ended = 0;
	{ small a(1); small b(2); smallpart c(1); puts("end"); }
	end(new small(1)); end(new smallpart(1)); delete new small(3); delete new smallpart(2);
	printf("small::small=%ld small::~small=%ld\n", made, ended);
}
`
	for _, command := range []string{"g++ -g -O0", "g++ -g -O1", "g++ -g -O2", "g++ -g -Os", "clang++ -g -O1",
		"clang++ -g -O2", "clang++ -g -Os"} {
		binary := need.Built(t, command, "small.cc", source)
		e := startrace(t, script(t, strings.ReplaceAll(`
n = count()
for name in ["big::big", "big::~big", "small::small", "small::~small"]:
    probe("uprobe:BIN:" + name, lambda e: n[e.func].add())
names = ["big::big", "big::~big", "small::small", "small::~small"]
at_exit(lambda: [print("seen", name, n[name].value, 7) for name in names])
`, "BIN", binary)), "-c", binary).ok(t)
		for line := range strings.Lines(e.stdout) {
			rest, is := strings.CutPrefix(line, "seen ")
			if !is || strings.HasSuffix(rest, " 7 7\n") {
				continue
			}
			name := strings.Fields(rest)[0]
			if command == "g++ -g -Os" || !strings.HasPrefix(command, "g++") || !strings.Contains(e.stderr,
				"cannot be probed: a copy of "+name+": debug information says nothing of the one in virtual thunk to") {
				t.Errorf("%s: %q of 7, and %q", command, rest, e.stderr)
			}
		}
		if strings.Count(e.stdout, "seen ") != 4 {
			t.Errorf("%s: got %q, want four lines of what was seen", command, e.stdout)
		}
	}
}
