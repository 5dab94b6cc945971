package accept

import (
	"strings"
	"testing"
)

// An optional of a float that is passed in registers is None where it is empty, as the test for that lies in a register
// that can be read. The float cannot be read.
func TestEmptyFloats(t *testing.T) {
	const probes = `
n = count()
points = ["uprobe:BIN:" + f for f in ("NAME1", "NAME2")]
probe(points, lambda e: print(e.args.a, e.args.a == None, e.args.a == FAULT))
probe(points, lambda e: n[e.args.a, e.args.a == None].add())
probe(points, lambda e: print("none"), where = lambda e: e.args.a == None)
at_exit(lambda: print(sorted(n.items(), key = str)))
`
	for _, test := range []struct{ command, file, source, names string }{
		{"rustc -g", "floats.rs", `use std::hint::black_box;
#[inline(never)] pub fn e5(a: Option<f64>, s: &str) -> usize { black_box(a); s.len() }
#[inline(never)] pub fn e6(a: Option<f32>, s: &str) -> usize { black_box(a); s.len() }
fn main() { for x in [Some(2.5), None] { e5(x, "s"); e6(x.map(|v| v as f32), "t"); } }
`, "floats::e5 floats::e6"},
		{"g++ -std=c++17 -g -O0", "floats.cc", `#include <optional>
__attribute__((noinline)) int e5(std::optional<double> a, int k) { asm volatile("":::"memory"); return k + !a; }
__attribute__((noinline)) int e6(std::optional<double> a, int k) { asm volatile("":::"memory"); return k - !a; }
int main() { for (auto x : {std::optional<double>(2.5), std::optional<double>()}) { e5(x, 1); e6(x, 2); } }
`, "e5 e6"},
	} {
		first, second, _ := strings.Cut(test.names, " ")
		got := printed(t, test.command, test.file, test.source,
			strings.NewReplacer("NAME1", first, "NAME2", second).Replace(probes))
		const want = `<float> False True, <float> False True, None True False, none, None True False, none, ` +
			`[((<float>, False), 2), ((None, True), 2)]`
		if got != want {
			t.Errorf("%s: got %s, want %s", test.command, got, want)
		}
	}
}
