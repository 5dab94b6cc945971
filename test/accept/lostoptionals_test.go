package accept

import (
	"strings"
	"testing"
)

// lostOptionals is a program of functions that do not use the optionals and smart pointers that are passed to them.
const lostOptionals = `#include <memory>
#include <optional>
#include <string>
struct pair { int x; long y; };
volatile int s;
#define CALL __attribute__((noinline))
CALL int values(std::optional<int> a, std::optional<pair> b, std::optional<std::string> c, std::shared_ptr<pair> d,
	std::unique_ptr<pair> e, int k) {
	s += k;
	return k;
}
CALL int refs(std::optional<int> &a, std::optional<pair> &b, const std::optional<std::string> &c,
	std::shared_ptr<pair> &d, std::unique_ptr<pair> &e, int k) {
	s += k;
	return k;
}
int main() {
	std::optional<int> a = 1;
	std::optional<pair> b = pair{1, 2};
	std::optional<std::string> c = "x";
	auto d = std::make_shared<pair>(pair{3, 4});
	auto e = std::make_unique<pair>(pair{5, 6});
	refs(a, b, c, d, e, 3);
	return values(a, b, c, d, std::move(e), 5) - 5;
}
`

// What an optional or a smart pointer leads to is not known where it is not known itself: no field of it is None.
//
// > So is what such a variable leads to: `e.vars.order.total`, where `order` is optimized out.
func TestLostOptionals(t *testing.T) {
	const probes = `
n = count()
point = "uprobe:BIN:NAME"
def show(e):
    b = e.args.b
    print(e.args.a, b.x, b.y, e.args.c, e.args.d.x, e.args.d.y, e.args.e.x, e.args.e.y, b.x == None, b.y == None)
probe(point, show)
probe(point, lambda e: n["x", e.args.b.x, e.args.d.x, e.args.e.y].add())
probe(point, lambda e: print("None"), where = lambda e: e.args.b.x == None or e.args.d.x == None or e.args.e.x == None)
at_exit(lambda: print(n.items()))
`
	lost := strings.Repeat("<optimized out> ", 8) + "False False, " +
		`[(("x", <optimized out>, <optimized out>, <optimized out>), 1)]`
	const known = `1 1 2 x 3 4 5 6 False False, [(("x", 1, 3, 6), 1)]`
	for _, test := range []struct{ command, name, want string }{
		{"g++ -std=c++17 -g -O0", "values", known},
		{"g++ -std=c++17 -g -O0", "refs", known},
		{"g++ -std=c++17 -g -O2", "values", lost},
		{"clang++ -std=c++17 -g -O2 -fstandalone-debug", "refs", lost},
	} {
		got := printed(t, test.command, "optionals.cc", lostOptionals, strings.ReplaceAll(probes, "NAME", test.name))
		if got != test.want {
			t.Errorf("%s, %s: got %s\nwant %s", test.command, test.name, got, test.want)
		}
	}
}

// lostPointers is a program of Rust with a function that does not use the options and pointers that are passed to it.
const lostPointers = `use std::rc::Rc;
use std::sync::Arc;
pub struct Pair { pub x: i32, pub y: i64 }
static mut S: i32 = 0;
#[inline(never)]
#[no_mangle]
pub fn values(a: Option<i32>, b: Option<&Pair>, c: Rc<Pair>, d: Arc<Pair>, e: Option<Box<Pair>>, k: i32) -> i32 {
    std::mem::forget((c, d, e));
    unsafe {
        S += k;
        std::ptr::read_volatile(&raw const S)
    }
}
fn main() {
    let p = Pair { x: 1, y: 2 };
    let e = Some(Box::new(Pair { x: 7, y: 8 }));
    let n = values(Some(9), Some(&p), Rc::new(Pair { x: 3, y: 4 }), Arc::new(Pair { x: 5, y: 6 }), e, 1);
    std::process::exit(n * 0);
}
`

// So it is with the options and the pointers of Rust.
func TestLostPointersOfRust(t *testing.T) {
	const probes = `
n = count()
point = "uprobe:BIN:values"
probe(point, lambda e: print(e.args.a, e.args.b.x, e.args.c.x, e.args.c.y, e.args.d.y, e.args.e.x, e.args.k))
probe(point, lambda e: n[e.args.b.x, e.args.c.x, e.args.d.x, e.args.e.x].add())
probe(point, lambda e: print("None"), where = lambda e: e.args.b.x == None or e.args.c.x == None or e.args.e.x == None)
at_exit(lambda: print(n.items()))
`
	for level, want := range map[string]string{
		"0": "9 1 3 4 6 7 1, [((1, 3, 5, 7), 1)]",
		"2": strings.ReplaceAll("L L L L L L 1, [((L, L, L, L), 1)]", "L", "<optimized out>"),
	} {
		got := printed(t, "rustc -g -C opt-level="+level, "pointers.rs", lostPointers, probes)
		if got != want {
			t.Errorf("level %s: got %s\nwant %s", level, got, want)
		}
	}
}
