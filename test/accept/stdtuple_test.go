package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// withTuples is a program with std::tuples in memory, in registers, in each other and with more elements than a list of
// bases is usually deep.
const withTuples = `#include <tuple>
#include <string>
#include <vector>
#include <memory>
#include <cstdio>
volatile int sink;
struct Empty {};
struct Point { int x, y; };
using Mixed = std::tuple<int, std::string, Empty, Point, std::tuple<short, char>, std::vector<int>,
	std::unique_ptr<Point>>;
using Long = std::tuple<int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int,
	int>;
struct Holder { int n; std::tuple<int, char> in; };
__attribute__((noinline)) int mixed(Mixed &m, Holder *h, const Long *l) {
	sink = std::get<0>(m);
	asm volatile("" : : "r"(&m), "r"(h), "r"(l) : "memory");
	return sink;
}
__attribute__((noinline)) int local(int n) {
	std::tuple<int, char, short> t{n, 'q', (short)-3};
	for (int i = 0; i < n; i++) {
		std::get<0>(t)++;
		printf("%d %d %d\n", std::get<0>(t), std::get<1>(t), std::get<2>(t)); // line 24
		sink = i;
	}
	return std::get<0>(t);
}
int main() {
	Mixed m(4, "four", Empty(), Point{1, 2}, std::tuple<short, char>(5, 'c'), std::vector<int>{7, 8},
		std::unique_ptr<Point>(new Point{3, 4}));
	Long l{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
	Holder h{1, std::tuple<int, char>(6, 'h')};
	return mixed(m, &h, &l) + local(2) == 0;
}
`

// A std::tuple has all of its elements, wherever it is.
//
// > A `std::tuple` is a tuple: `e.args.pair[1]`.
func TestStdTuples(t *testing.T) {
	needTracing(t)
	for _, compiler := range []string{"g++", "clang++"} {
		for _, level := range []string{"-O0", "-O1", "-O2"} {
			binary := need.Built(t, compiler+" -g "+level, "tuples.cc", withTuples)
			e := startrace(t, "-q", script(t, `
k = count()
def call(e):
    m = e.start.args.m
    print(m[0], m[1], m[3].y, m[4], m[5], m[6].x, len(m), e.args.h.in_, e.args.h.in_[1], e.args.l[0][19],
          len(e.args.l[0]))
probe("uprobe:`+binary+`:mixed", lambda e: k.add(), where = lambda e: e.args.m[4][0] == 5 and e.args.m[1] == "four")
probe("ufunc:`+binary+`:mixed", call)
probe("uprobe:`+binary+`:tuples.cc:24", lambda e: print("local", e.vars.t[0], e.vars.t[1], len(e.vars.t)))
at_exit(lambda: print("kernel", k.value))
`), "-c", binary).ok(t)
			for _, want := range []string{"4 four 2 (5, 99) (7, 8) 3 7 (6, 104) 104 20 20\n",
				"local 3 113 3\nlocal 4 113 3\n",
				"kernel 1\n"} {
				if !strings.Contains(e.stdout, want) {
					t.Errorf("%s %s: %s, want %s: %s", compiler, level, e.stdout, want, e.stderr)
				}
			}
		}
	}
}
