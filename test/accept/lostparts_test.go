package accept

import (
	"fmt"
	"strings"
	"testing"
)

// lostTags is a program of Rust in whose loop the parts of two enums are known in registers, and the numbers that tell
// which variants there are are not: they are computed from the sum behind the loop.
const lostTags = `pub enum Shape { Empty, Num(i32), Big(i64) }
#[inline(never)]
fn option(xs: &[i32]) -> i32 {
    let mut best: Option<i32> = None;
    let mut total = 0;
    for x in xs.iter() {
        total += x * 2;
        eprintln!("total {}", total); // of the option
        if total > 4 {
            best = Some(total);
        }
    }
    best.unwrap_or(0)
}
#[inline(never)]
fn shape(xs: &[i32]) -> i64 {
    let mut last = Shape::Empty;
    let mut total = 0;
    for x in xs.iter() {
        total += x * 2;
        eprintln!("total {}", total); // of the enum
        if total > 4 {
            last = Shape::Num(total);
        }
    }
    match last {
        Shape::Num(b) => b as i64,
        Shape::Big(b) => b,
        Shape::Empty => -1,
    }
}
#[inline(never)]
fn nested(xs: &[i32]) -> i64 {
    let mut pair: (u8, Option<i64>) = (0, None);
    let mut twice: Option<Option<u8>> = None;
    for x in xs.iter() {
        eprintln!("element {}", x); // of the pair
        if *x > 2 {
            pair = (9, Some(-5));
            twice = Some(Some(4));
        }
    }
    pair.1.unwrap_or(3) + pair.0 as i64 + twice.flatten().unwrap_or(0) as i64
}
fn main() {
    let v: Vec<i32> = std::env::args().map(|_| 1).chain(vec![2, 3, 4]).collect();
    std::process::exit(option(&v) - 20 + shape(&v) as i32 - 20 + nested(&v) as i32 - 8);
}
`

// What is in a variant is not known where nobody knows which variant there is, though the debug information has a place
// for it: there is what the enum is to become, or nothing that means anything.
func TestLostTagsOfRust(t *testing.T) {
	numbers := strings.Split(lostTags, "\n")
	line := func(mark string) (n int) {
		for i, text := range numbers {
			if strings.HasSuffix(text, "// "+mark) {
				n = i + 1
			}
		}
		return n
	}
	probes := fmt.Sprintf(`
probe("uprobe:BIN:tags.rs:%d", lambda e: print("option", e.vars.best))
probe("uprobe:BIN:tags.rs:%d", lambda e: print("shape", e.vars.last.variant, e.vars.last.Num, e.vars.last.Big))
probe("uprobe:BIN:tags.rs:%d", lambda e: print("nested", e.vars.pair[0], e.vars.pair[1], e.vars.twice))
`, line("of the option"), line("of the enum"), line("of the pair"))
	truth := []string{
		"option None", "option None", "option 6", "option 12",
		"shape Empty None None", "shape Empty None None", "shape Num 6 None", "shape Num 12 None",
		"nested 0 None None", "nested 0 None None", "nested 0 None None", "nested 9 -5 4",
	}
	for _, level := range []string{"0", "1", "2", "3"} {
		got := strings.Split(printed(t, "rustc -g -C opt-level="+level, "tags.rs", lostTags, probes), ", ")
		if len(got) != len(truth) {
			t.Errorf("level %s: got %q", level, got)
			continue
		}
		for i, shown := range got {
			sameOrLost(t, "level "+level, shown, truth[i], level == "0")
		}
	}
}

// sameOrLost compares words with what they have to be; unless all are to be known, each may be optimized out.
func sameOrLost(t *testing.T, what, shown, truth string, known bool) {
	t.Helper()
	got, want := strings.Fields(strings.ReplaceAll(shown, "<optimized out>", "?")), strings.Fields(truth)
	for i := range want {
		if len(got) != len(want) || got[i] != want[i] && (known || got[i] != "?") {
			t.Errorf("%s: got %s, want %s", what, shown, truth)
			return
		}
	}
}

// lostFlexible is a program with a struct whose last member is an array of any length, which is not kept to the end.
const lostFlexible = `#include <stdlib.h>
struct list { int n; int v[]; };
volatile int sink;
__attribute__((noinline)) static struct list *make(int n) {
	struct list *l = malloc(4 + 4 * n);
	l->n = n;
	for (int i = 0; i < n; i++)
		l->v[i] = 10 * i;
	return l;
}
__attribute__((noinline)) void unused(struct list *l, int k) { sink += k; }
int main(int argc, char **argv) {
	struct list *l = make(argc + 2);
	unused(l, 3);
	int s = l->v[1];
	sink = s;
	make(s);
	return s - 10;
}
`

// An array without a length in a struct that is not kept is not known, and not an empty list.
//
// > So is what such a variable leads to: `e.vars.order.total`, where `order` is optimized out.
func TestLostFlexibleArrays(t *testing.T) {
	for _, test := range []struct{ command, point, name, want string }{
		{"gcc -g -O0", "unused", "e.args.l", "10 20"},
		{"clang -g -O2", "unused", "e.args.l", "<optimized out> <optimized out>"},
		{"gcc -g -O2", "flexible.c:18", "e.vars.l", "<optimized out> <optimized out>"},
	} {
		probes := strings.ReplaceAll(`probe("uprobe:BIN:POINT", lambda e: print(X.v[1], X.v[2]))`, "X", test.name)
		got := printed(t, test.command, "flexible.c", lostFlexible, strings.ReplaceAll(probes, "POINT", test.point))
		if got != test.want {
			t.Errorf("%s: got %s, want %s", test.command, got, test.want)
		}
		if test.want == "10 20" {
			continue
		}
		const whole = `
def show(e):
    print(X.v, X.v == FAULT, len(X.v))
probe("uprobe:BIN:POINT", show)
probe("uprobe:BIN:POINT", lambda e: print("lost"), where = lambda e: X.v == FAULT and len(X.v) == FAULT)
`
		probes = strings.ReplaceAll(strings.ReplaceAll(whole, "X", test.name), "POINT", test.point)
		got = printed(t, test.command, "flexible.c", lostFlexible, probes)
		if want := "<optimized out> True <optimized out>, lost"; got != want {
			t.Errorf("%s: got %s, want %s", test.command, got, want)
		}
	}
}
