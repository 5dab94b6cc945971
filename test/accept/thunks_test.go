package accept

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// Calls of virtual functions through base classes are seen, whether the compiler has put the function into the thunk or
// calls it there, and each once.
//
// > A virtual function that is called through a base class can have a copy of its code for that (a thunk), where
// > `e.args.this` is FAULT.
func TestThunks(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	const source = `#include <cstdio>
static long gets, sets, ends;
static volatile int sink;
#define APART __attribute__((noinline))
struct left { virtual ~left() {} virtual int get(int n) { return n; } int l = 1; };
struct right { virtual ~right() {} virtual int set(int n) { return n; } int r = 2; };
struct both : left, right {
	int n = 7;
	~both();
	int get(int k) override;
	int set(int k) override;
};
both::~both() { ends++; sink = n; }
int both::get(int k) { gets++; return sink = k + n; }
int both::set(int k) { sets++; return sink = k - n; }
APART int through(left *l, int k) { return l->get(k); }
APART int through(right *r, int k) { return r->set(k); }
APART void end(right *r) { delete r; }
int main(int argc, char **argv) {
	both b;
	for (int i = 0; i < 5; i++)
		through(static_cast<left *>(&b), i), through(static_cast<right *>(&b), i), end(new both);
	printf("both::get=%ld both::set=%ld both::~both=%ld\n", gets, sets, ends);
	fflush(stdout);
	asm volatile("syscall" : : "a"(231), "D"(0));
}
`
	for _, command := range []string{"g++ -g -O0", "g++ -g -O2", "g++ -O2", "g++ -g -Os", "clang++ -g -O0",
		"clang++ -g -O2", "clang++ -O2"} {
		binary := need.Built(t, command, "both.cc", source)
		if strings.Contains(command, "-g") {
			e := startrace(t, "-q", script(t, `
probe("ufunc:`+binary+`:both::set", lambda e: print(e.start.args[1], e.start.args.k, e.ret, e.start.args.this.n))
`), "-c", binary).ok(t)
			for i, line := range slices.Collect(strings.Lines(e.stdout))[1:] {
				known := fmt.Sprintf("%d %d %d 7\n", i, i, i-7)
				if line != known && line != strings.Replace(known, " 7\n", " <optimized out>\n", 1) {
					t.Errorf("%s: %q, want %q", command, line, known)
				}
			}
		}
		for _, pattern := range []string{"uprobe:BIN:{both::get,both::set,both::~both}", "ufunc:BIN:both::[gs]et",
			"ufunc:BIN:both::*", "uprobe:BIN:@both.cc:both::*"} {
			if strings.Contains(pattern, "@") && !strings.Contains(command, "-g") {
				continue
			}
			e := startrace(t, "-q", script(t, strings.ReplaceAll(`
n = count()
probe("`+pattern+`", lambda e: n[e.func].add())
at_exit(lambda: print("seen", " ".join(["%s=%d" % item for item in sorted(n.items()) if item[0] != "both::both"])))
`, "BIN", binary)), "-c", binary).ok(t)
			said, seen, _ := strings.Cut(e.stdout, "\nseen ")
			if strings.Contains(pattern, "[gs]et") {
				said, _, _ = strings.Cut(said, " both::~both")
			}
			if strings.TrimSpace(seen) != said {
				t.Errorf("%s %s: want %q, seen %q", command, pattern, said, seen)
			}
		}
	}
}
