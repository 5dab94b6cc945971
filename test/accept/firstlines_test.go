package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// firstC has functions that begin with loops and blocks, on the line of the function and behind it. Each line that ends
// in a number is passed so often.
const firstC = `static volatile int sink;
static int one(int n) { for (int i = 0; i < n; i++) sink += i; return n; } // 4
static int block(int q) { { int in = q + 1; // 4
	sink = in; } return q; } // 4-8
static int whiles(int n) { // 4
	while (n > 0)
		sink += n--; // 6
	return n; // 4
}
static int dos(int n) { // 4
	do
		sink += n--; // 7
	while (n > 0);
	return n; // 4
}
static int always(int n) { // 4
	for (;;) {
		if (n-- <= 0) // 10
			return n; // 4
	}
}
static int none(void) { // 4
	while (sink > 100)
		sink--;
	return 1; // 4
}
int main(void) {
	for (int i = 0; i < 4; i++) { // 1
		one(i); // 4
		block(i); // 4
		whiles(i); // 4
		dos(i); // 4
		always(i); // 4
		none(); // 4
	}
	return 0; // 1
}
`

// firstCpp has lambdas with blocks.
const firstCpp = `static volatile int sink;
static int lam(int base) { // 1
	auto f = [base](int q) { // 2-3
		int in = q + base; // 2
		sink = in; // 2
		return in; // 2
	};
	return f(4) + f(5); // 1
}
int main() { return lam(3) & 0; } // 1
`

// firstRust has calls whose results are kept while something is to be dropped.
const firstRust = `use std::hint::black_box;
fn apply<F: FnMut(i32) -> i32>(mut f: F, n: i32) -> i32 {
    let r = f(n); // 3
    r
}
fn keeps(n: i32) -> usize {
    let s = String::from("kept"); // 3
    let mut v = vec![n]; // 3
    let (a, b) = (black_box(n), v.len()); // 3
    for i in 0..n { // 3
        v.push(black_box(i)); // 6
    }
    let m = match s.parse::<i32>() { Ok(k) => k, Err(_) => a }; // 3
    if let Some(x) = v.get(0) { // 3
        black_box(x); // 3
    }
    black_box(m); // 3
    s.len() + b // 3
}
fn main() {
    let s = String::from("x"); // 1
    let mut i = 1; // 1
    while i <= 3 {
        apply(|q| // 3-6
            q + s.len() as i32, i); // 3-6
        keeps(i); // 3
        i += 1; // 3
    }
}
`

// A line is counted once each time it is executed where a function begins with it: behind the instructions that store
// the parameters an inner block or a loop can begin. In Rust a declaration begins a block within its own statement.
//
// > Where a loop begins right behind these, it stands in front of them.
// > So each call is seen once, and its variables are FAULT there.
func TestFirstLinesOnce(t *testing.T) {
	needTracing(t)
	for _, c := range []struct{ command, file, source string }{
		{"gcc -g -O0", "first.c", firstC}, {"clang -g -O0", "first.c", firstC}, {"g++ -g -O0", "first.cc", firstC},
		{"clang++ -g -O0", "first.cc", firstC}, {"gcc -g -O0 -gdwarf-4", "first.c", firstC},
		{"g++ -g -O0", "lambda.cc", firstCpp}, {"clang++ -g -O0", "lambda.cc", firstCpp},
		{"rustc -g -C opt-level=0", "first.rs", firstRust},
	} {
		binary := need.Built(t, c.command, c.file, c.source)
		want := passes(c.source)
		for line, n := range lineCounts(t, binary, c.file, want, false) {
			if n < want[line][0] || n > want[line][1] {
				t.Errorf("%s: line %d seen %d times: %s", c.command, line, n, strings.Split(c.source, "\n")[line-1])
			}
		}
	}
}
