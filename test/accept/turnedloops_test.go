package accept

import (
	"testing"

	"github.com/startrace/startrace/test/need"
)

// Programs of which LLVM turns loops that have calls, which it has inlined there: with a part of the call before the
// rest, and with the condition of the loop at two places. Each prints how often its calls were made.
const (
	turnedBody = `#include <stdio.h>
static volatile long calls;
__attribute__((noinline)) int slow(int a, int b) { __asm__ volatile(""); return a - b; }
static int step(int a, int b) {
	int r = a - b;
	calls++;
	if (r > 10) r = slow(a - 1, r);
	r += slow(a, b);
	return r;
}
int main(int argc, char **argv) {
	int s = START;
	for (int k = 0; k < 5 * argc; k++) s += step(k, s);
	printf("step=%ld\n", calls);
	return 0;
}
`
	turnedCondition = `#include <stdio.h>
static volatile long calls;
static volatile int lim = 10;
static int step(int i) { calls++; return i < lim; }
__attribute__((noinline)) int run(int i) {
	while (step(i)) { i++; __asm__ volatile("" ::: "memory"); }
	return i;
}
int main(void) { run(0); run(5); printf("step=%ld\n", calls); }
`
	turnedMember = `#include <cstdio>
#include <vector>
static volatile long calls;
struct Q {
	int v;
	int step(int k) const {
		calls++;
		if (k > v) { asm volatile(""); return slow(k); }
		return slow(v);
	}
	__attribute__((noinline)) static int slow(int x) { asm volatile(""); return x; }
};
int main(int argc, char **argv) {
	std::vector<Q> q(argc * 6, Q{3});
	int s = argv[0][0];
	for (const auto &x : q) s += x.step(s);
	printf("step=%ld\n", calls);
}
`
	// A loop of the function itself is no call, whether it is unrolled or not.
	ownLoop = `#include <stdio.h>
static volatile long calls;
static volatile int sink;
static inline void step(int n) {
	while (n-- > 0) sink = n;
	calls++;
}
int main(int argc, char **argv) {
	for (int k = 0; k < 5 * argc; k++) step(k + 3);
	step(argc + 20);
	printf("step=%ld\n", calls);
}
`
	// gcc puts an instruction of the loop between where the second turn of the call begins and the call's own first.
	between = `#include <stdio.h>
static volatile long calls;
static int step(int a, int b) {
	int r = a - b;
	calls++;
	r -= a * b;
	return r;
}
__attribute__((noinline)) int f1(int a, int b) { __asm__ volatile(""); return a - b; }
__attribute__((noinline)) int f2(int a, int b) {
	int r = a - b;
	for (int i = 0; i < 4; i++) r += f1(a - 1, a ^ b) + i;
	r += f1(a - 1, a);
	for (int i = 0; i < 2; i++) r += step(b, a ^ b) + i;
	r -= a + b;
	return f1(r, a);
}
int main(void) {
	int s = 0;
	for (int i = 0; i < 10; i++) s += f2(i, s);
	printf("step=%ld\n", calls);
	return s & 0;
}
`
	turnedRust = `use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
static CALLS: AtomicU64 = AtomicU64::new(0);
#[inline(never)] fn slow(a: i32, b: i32) -> i32 { std::hint::black_box(a) - b }
fn step(a: i32, b: i32) -> i32 {
    let mut r = a.wrapping_sub(b);
    CALLS.fetch_add(1, Relaxed);
    if r > 10 { r = slow(a - 1, r); }
    r.wrapping_add(slow(a, b))
}
fn main() {
    let mut s: i32 = -100;
    for k in 0..std::env::args().count() as i32 * 5 { s = s.wrapping_add(step(k, s)); }
    println!("step={}", CALLS.load(Relaxed));
}
`
)

// A call that was inlined into a loop is counted at each turn, wherever LLVM has put its parts.
//
// > Where the copies are apart from each other, and have the same lines in full, each is seen.
func TestTurnedLoops(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	clang := []string{"clang -g -O1", "clang -g -Os", "clang -g -O2", "clang -g -O3", "gcc -g -O2"}
	cpp := []string{"clang++ -g -O1", "clang++ -g -O2", "g++ -g -O2"}
	for _, c := range []struct {
		file, source, pattern string
		commands              []string
	}{
		{"body.c", "#define START argv[0][0] * -3\n" + turnedBody, "step", clang},
		{"other.c", "#define START -100\n" + turnedBody, "step", clang},
		{"condition.c", turnedCondition, "step", clang},
		{"own.c", ownLoop, "step", clang[:2]},
		{"between.c", between, "step", []string{"gcc -g -O1", "gcc -g -O2", "gcc -g -O3", "gcc -g -Os"}},
		{"member.cc", turnedMember, "*step", cpp},
		{"turned.rs", turnedRust, "turned::step", []string{"rustc -g -C opt-level=1", "rustc -g -C opt-level=2"}},
	} {
		for _, command := range c.commands {
			binary := need.Built(t, command, c.file, c.source)
			e := startrace(t, "-q", "-e", "n = count()", "-e",
				`probe("uprobe:`+binary+`:`+c.pattern+`", lambda e: n.add())`, "-e",
				`at_exit(lambda: print("step=%d" % n.value))`, "-c", binary).ok(t)
			got := lines(e.stdout)
			if len(got) != 2 || got[0] != got[1] {
				t.Errorf("%s %s: made and seen: %q %s", command, c.file, got, e.stderr)
			}
		}
	}
}
