package accept

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// localFunctions is a program of which the linker knows no name of most functions, and that counts their calls.
const localFunctions = `#include <cstdio>
#include <initializer_list>
static volatile int sink;
static long n_st, n_tiny, n_an, n_antiny, n_get, n_small, n_twice, n_twicelong, n_twiceshort, n_top, n_lambda, n_plain, n_ext,
	n_other;
struct counted { const char *name; long *at; };
#define C(name) counted{#name, &n_##name}
#define APART __attribute__((noinline))
#define INLINED inline __attribute__((always_inline))
namespace other { static volatile int own = 9; }
namespace ns {
static volatile int own = 7;
static APART int st(int n) { n_st++; return sink = n + 1; }
static INLINED int tiny(int n) { n_tiny++; return sink = n + 2; }
namespace {
APART int an(int n) { n_an++; return sink = n + 3; }
INLINED int antiny(int n) { n_antiny++; return sink = n + 4; }
struct box {
	int v;
	APART int get(int n) { n_get++; return sink = v + n; }
	INLINED int small(int n) { n_small++; return sink = v + n + own; }
};
}
template <class T> static APART T twice(T n) { n_twice++; return sink = n * 2; }
template <class T, class U> static INLINED T twicetiny(T n, U *text) { (sizeof(T) == 8 ? n_twicelong : n_twiceshort)++; return sink = n * 2 + text[0]; }
int ext(int n) { n_ext++; return sink = n + 5; }
APART int lambdas(int n) {
	auto one = [&](int k) __attribute__((always_inline)) { n_lambda++; return sink = k + n; };
	return one(n) + one(n + 1);
}
}
namespace { INLINED int top(int n) { n_top++; return sink = n; } }
static INLINED int plain(int n) { n_plain++; return sink = n; }
static INLINED int st(int n) { n_other++; return sink = n + other::own; }
int main(int argc, char **argv) {
	ns::box b{argc};
	for (int i = 0; i < argc + 4; i++) {
		ns::st(i), ns::tiny(i), ns::an(i), ns::antiny(i), b.get(i), b.small(i), ns::ext(i), top(i), plain(i), st(i);
		ns::twice<unsigned long>(i), ns::twicetiny<long>(i, (const char *)argv[0]), ns::lambdas(i);
		if (i & 1)
			ns::tiny(i), ns::antiny(i), ns::twicetiny<short>(i, (const char *)argv[0]);
	}
	for (auto c : {C(st), C(tiny), C(an), C(antiny), C(get), C(small), C(twice), C(twicelong), C(twiceshort),
			C(lambda), C(top), C(plain), C(ext), C(other)})
		printf("%s=%ld\n", c.name, *c.at);
}
`

// Functions that are local to a file of C++ are found by their whole names, wherever their code is, and have these
// names: the numbers of calls are those that the program counts.
//
// > Functions that are local to a file have their namespaces before their names, too, also where they were inlined:
// > `ns::(anonymous namespace)::read`.
func TestNamesOfLocalFunctions(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, command := range []string{"g++ -g -O0", "g++ -g -O2", "g++ -g -O2 -gdwarf-4", "g++ -g -O2 -flto",
		"clang++ -g -O0", "clang++ -g -O2"} {
		binary := need.Built(t, command, "local.cc", localFunctions)
		for _, of := range []string{"", "@local.cc:"} {
			e := startrace(t, "-q", script(t, strings.NewReplacer("BIN", binary, "OF", of).Replace(`
n = count()
def counted(pattern):
    probe("uprobe:BIN:OF" + pattern, lambda e: n[pattern, e.func].add())
for pattern in ["`+strings.Join(slices.Sorted(maps.Keys(localPatterns)), `", "`)+`"]:
    counted(pattern)
at_exit(lambda: [print("seen %s|%s=%d" % (k[0], k[1], v)) for k, v in n.items()])
`)), "-c", binary).ok(t)
			compareLocal(t, command+" "+of, e.stdout)
		}
	}
}

// Lines in such functions have their names, and variables of their namespace come first.
func TestLinesOfLocalFunctions(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	before, _, _ := strings.Cut(localFunctions, "INLINED int antiny")
	line := strings.Count(before, "\n") + 1
	for _, command := range []string{"g++ -g -O0", "g++ -g -O2", "clang++ -g -O0", "clang++ -g -O2"} {
		binary := need.Built(t, command, "local.cc", localFunctions)
		e := startrace(t, "-q", script(t, strings.NewReplacer("BIN", binary, "LINE", strconv.Itoa(line)).Replace(`
names = {}
def line(e):
    names[e.func] = True
def own(e):
    names["own %d" % e.globals.own] = True
probe("uprobe:BIN:local.cc:LINE", line)
probe("uprobe:BIN:ns::(anonymous namespace)::an", own)
at_exit(lambda: print(sorted(names.keys())))
`)), "-c", binary).ok(t)
		want := "[\"ns::(anonymous namespace)::antiny\", \"own 7\"]\n"
		if !strings.HasSuffix(e.stdout, want) {
			t.Errorf("%s: got %q, want %q", command, e.stdout, want)
		}
	}
}

// localNames are the names of what the program counts.
var localNames = map[string]string{
	"st": "ns::st", "tiny": "ns::tiny", "an": "ns::(anonymous namespace)::an",
	"antiny": "ns::(anonymous namespace)::antiny", "get": "ns::(anonymous namespace)::box::get",
	"small": "ns::(anonymous namespace)::box::small", "twice": "ns::twice<unsigned long>",
	"twicelong": "ns::twicetiny<long, char const>", "twiceshort": "ns::twicetiny<short, char const>",
	"lambda": "ns::lambdas(int)::{lambda(int)#1}::operator()", "top": "(anonymous namespace)::top", "plain": "plain",
	"ext": "ns::ext", "other": "st",
}

// localPatterns are what the program counts of that patterns mean.
var localPatterns = map[string][]string{
	"ns::st": {"st"}, "ns::tiny": {"tiny"}, "st": {"other"}, "{ns::tiny,plain}": {"tiny", "plain"},
	"ns::(anonymous namespace)::antiny": {"antiny"}, "(anonymous namespace)::top": {"top"},
	"ns::(anonymous namespace)::*":      {"an", "antiny", "get", "small"},
	"*(anonymous namespace)::*":         {"an", "antiny", "get", "small", "top"},
	"(anonymous namespace)::*":          {"top"},
	"ns::(anonymous namespace)::box::*": {"get", "small"},
	"ns::twice":                         {"twice"}, "ns::twicetiny": {"twicelong", "twiceshort"},
	"ns::twice*long*": {"twice", "twicelong"},
	"ns::*": {"st", "tiny", "an", "antiny", "get", "small", "twice", "twicelong", "twiceshort", "lambda",
		"ext"},
}

// compareLocal compares what was seen with what the program has printed.
func compareLocal(t *testing.T, what, out string) {
	t.Helper()
	said, seen := map[string]string{}, map[string]string{}
	for line := range strings.Lines(out) {
		name, n, _ := strings.Cut(strings.TrimSpace(line), "=")
		if name, is := strings.CutPrefix(name, "seen "); is {
			name = strings.ReplaceAll(name, "::$_0::", "::{lambda(int)#1}::") // clang's
			seen[name] = n
		} else {
			said[name] = n
		}
	}
	for pattern, list := range localPatterns {
		for _, name := range list {
			key := pattern + "|" + localNames[name]
			if seen[key] != said[name] || said[name] == "" {
				t.Errorf("%s: %s: seen %q, want %q", what, key, seen[key], said[name])
			}
			delete(seen, key)
		}
	}
	for key, n := range seen {
		if !strings.HasSuffix(key, "|ns::lambdas") {
			t.Errorf("%s: seen %s, %s times", what, key, n)
		}
	}
}
