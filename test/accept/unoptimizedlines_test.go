package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// byAddressRust and byAddressCpp are programs without optimization, of which parameters and results are passed by their
// addresses. Each line that ends in a number is passed so often.
const byAddressRust = `struct Big { a: i64, b: i64, s: String }
impl Big {
    fn eat(self, k: i64) -> i64 {
        let x = k + 1; // 10
        let x = x * 2; // 10
        for i in 0..3 { // 10-40
            std::hint::black_box(i + x); // 30
        }
        x + self.a + self.b + self.s.len() as i64 // 10
    }
    fn only(self) -> i64 { self.eat(1) } // 5
}
fn taken(a: i32, s: String) -> i32 {
    let x = a + 1; // 10
    let x = x * 2; // 10
    for i in 0..3 { // 10-40
        std::hint::black_box(i + x); // 30
    }
    x + s.len() as i32 // 10
}
fn made(a: i64) -> [i64; 5] {
    let mut r = [a; 5]; // 10
    for i in 0..3 { // 10-40
        r[i] += 1; // 30
    }
    r // 10
}
fn main() {
    for i in 0..10 {
        taken(i, "abc".to_string()); // 10
        made(i as i64); // 10
        let b = Big { a: 1, b: 2, s: String::new() }; // 10
        if i % 2 == 0 { b.eat(1); } else { b.only(); }
    }
}
`

const byAddressCpp = `#include <string>
#include <vector>
struct big { long a, b, c, d; };
struct closed { long v; closed() : v(1) {} closed(const closed &o) : v(o.v) {} ~closed() { v = 0; } };
static struct big made(int a) {
	struct big r = {1, 2, 3, 4}; int t = 0; // 10
	for (int i = 0; i < 3; i++) { // 10
		t += i * a; // 30
	}
	r.a = t; // 10
	return r; // 10
}
static int text(int a, std::string s, std::vector<int> v) {
	int t = a; // 10
	for (int i = 0; i < 3; i++) { // 10
		t += s.size(); // 30
	}
	return t + v.size(); // 10
}
static closed both(closed c, int a) {
	closed r; // 10
	for (int i = 0; i < 3; i++) // 10
		r.v += a; // 30
	return r; // 10
}
int main() {
	closed c;
	for (int i = 0; i < 10; i++) {
		made(i); // 10
		text(i, "ab", {1, 2}); // 10
		both(c, i); // 10
	}
}
`

// A line of a function that was not optimized is passed once, whatever the function takes and returns by its address.
func TestLinesOfWhatIsPassedByAddress(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, c := range []struct{ command, file, source string }{
		{"rustc -g", "passes.rs", byAddressRust},
		{"clang++ -g -O0", "passes.cc", byAddressCpp}, {"clang++ -g -O0 -gdwarf-4", "passes.cc", byAddressCpp},
		{"g++ -g -O0", "passes.cc", byAddressCpp},
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
