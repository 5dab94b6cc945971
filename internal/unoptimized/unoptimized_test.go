package unoptimized_test

import (
	"debug/dwarf"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/unoptimized"
	"github.com/startrace/startrace/test/debuginfo"
	"github.com/startrace/startrace/test/need"
)

// sourceC has functions whose variables lie in each kind of place. Of those of bare these tell nothing: they are no
// parameters, or are in registers.
const sourceC = `#include <stdio.h>
#define KEPT __attribute__((noinline)) static
struct big { long a, b, c, d, e; };
KEPT int swapped(int a, int b) { int t = a; a = b; b = t; return a - 2 * b; }
KEPT int looped(int n) { int sum = 0; for (int i = 0; i < n; i++) { int k = i * i; sum += k ^ n; } return sum; }
static int *volatile last; // so that no compiler passes the number itself
KEPT void told(int *p) { last = p; }
KEPT int addressed(int n) { told(&n); return n; }
KEPT struct big made(int n) { struct big r = { n, n, n }; r.b = looped(n); return r; }
KEPT int constant(int n) { int x = 5; return x * 3 + n; }
KEPT int unused(int n, int k) { return k; }
KEPT double real(double d, struct big b) { return d + b.a; }
KEPT int variadic(const char *f, ...) { return *f; }
KEPT int declared(register int n) { register int k = n; return k + 1; }
KEPT void buffered(void) { char text[64]; if (fgets(text, sizeof text, stdin)) { int n = 0; told(&n); puts(text); } }
KEPT void empty(void) { puts(""); }
static int count;
KEPT int counted(void) { static int times; return ++times + ++count; }
int main(int argc, char **argv) {
	empty(), buffered();
	return swapped(argc, 2) + looped(argc) + addressed(argc) + made(argc).b + constant(argc) + unused(argc, argc + 1) +
		real(argc, made(argc)) + variadic(argv[0], argc) + declared(argc) + counted();
}
`

var bare = []string{"buffered", "counted", "declared", "empty"}

// sourceCPP has functions that take and return by address.
const sourceCPP = `#define KEPT __attribute__((noinline)) static
struct closed { long v; closed() : v(1) {} closed(const closed &o) : v(o.v) {} ~closed() { v = 0; } };
struct shop { long n; __attribute__((noinline)) long sold(closed c, int k) { n += k; return n + c.v; } };
KEPT closed made(closed c, int n) { closed r; for (int i = 0; i < n; i++) r.v += n; return r; }
KEPT long taken(const closed &c, closed d) { long t = c.v; return t + d.v; }
int main(int argc, char **) { closed c; shop s = {argc}; return made(c, argc).v + taken(c, c) + s.sold(c, argc); }
`

const sourceRust = `struct Big { a: i64, b: i64, s: String }
impl Big {
    #[inline(never)]
    fn only(self) -> i64 { self.a + self.b + self.s.len() as i64 }
}
#[inline(never)]
fn taken(a: i32, s: String) -> i32 { let x = a + 1; let x = x * 2; x + s.len() as i32 }
#[inline(never)]
fn moved(b: Big) -> i64 { b.only() }
#[inline(never)]
fn made(a: i64) -> [i64; 5] { let mut r = [a; 5]; for i in 0..3 { r[i] += 1; } r }
#[inline(never)]
fn empty() { println!(); }
fn main() {
    empty();
    for i in 0..10 {
        let b = Big { a: i as i64, b: 2, s: "abc".to_string() };
        println!("{} {} {}", taken(i, "abc".to_string()), made(i as i64)[1], moved(b));
    }
}
`

// Each function of a program is judged as it was compiled, by all compilers and at all levels.
func TestLevels(t *testing.T) {
	for _, c := range []struct {
		command, file, source string
		plain, optimized      []string // levels
		silent                []string // functions of which nothing tells that they were not optimized
	}{
		{"gcc -g", "p.c", sourceC, []string{"", "-O0", "-O2 -O0"}, []string{"-Og", "-O1", "-O2", "-Os"}, nil},
		{"gcc -g -gdwarf-4", "p.c", sourceC, []string{"-O0"}, []string{"-O2"}, nil},
		{"gcc -g -gdwarf-2", "p.c", sourceC, []string{"-O0"}, []string{"-O2"}, nil},
		{"gcc -g -flto", "p.c", sourceC, []string{"-O0"}, []string{"-O2"}, bare},
		{"gcc -g -gno-record-gcc-switches", "p.c", sourceC, []string{"-O0"}, []string{"-Og", "-O1", "-O2"}, bare},
		{"aarch64-linux-gnu-gcc -g", "p.c", sourceC, []string{"-O0"}, []string{"-O1", "-O2"}, nil},
		{"aarch64-linux-gnu-gcc -g -gno-record-gcc-switches", "p.c", sourceC, []string{"-O0"}, []string{"-O2"}, bare},
		{"clang -g", "p.c", sourceC, []string{"", "-O0"}, []string{"-Og", "-O1", "-O2", "-Os"}, nil},
		{"clang -g -gdwarf-4", "p.c", sourceC, []string{"-O0"}, []string{"-O1", "-O2"}, nil},
		{"clang -g -gdwarf-3", "p.c", sourceC, []string{"-O0"}, []string{"-O1", "-O2"},
			[]string{"buffered", "counted", "empty"}},
		{"g++ -g", "p.cc", sourceCPP, []string{"-O0"}, []string{"-O1", "-O2"}, nil},
		{"clang++ -g", "p.cc", sourceCPP, []string{"-O0"}, []string{"-O1", "-O2"}, nil},
		{"clang++ -g -gdwarf-4", "p.cc", sourceCPP, []string{"-O0"}, []string{"-O2"}, nil},
		{"rustc -g", "p.rs", sourceRust, []string{"-Copt-level=0"},
			[]string{"-Copt-level=1", "-Copt-level=2", "-Copt-level=s"}, nil},
		// Without the parameters nothing tells how a crate was compiled.
		{"rustc -Cdebuginfo=1", "p.rs", sourceRust, nil, []string{"-Copt-level=0", "-Copt-level=2"}, nil},
	} {
		t.Run(c.command, func(t *testing.T) {
			for _, level := range slices.Concat(c.plain, c.optimized) {
				for name, is := range judged(t, need.Built(t, c.command+" "+level, c.file, c.source)) {
					want := slices.Contains(c.plain, level) && !slices.Contains(c.silent, name)
					if is != want {
						t.Errorf("%s %s: %s: got %t, want %t", c.command, level, name, is, want)
					}
				}
			}
		})
	}
}

// A function can have another level than its unit.
func TestLevelOfOneFunction(t *testing.T) {
	const source = `__attribute__((noinline, WITH)) static int other(int n) { int k = n * 2; return k ^ n; }
__attribute__((noinline)) static int same(int n) { int k = n * 2; return k ^ n; }
int main(int argc, char **argv) { return other(argc) + same(argc); }
`
	for _, c := range []struct {
		command string
		plain   []string
	}{
		{`gcc -g -O2 -DWITH=optimize("O0")`, []string{"other"}},
		{`gcc -g -O0 -DWITH=optimize("O2")`, []string{"main", "same"}},
		{`gcc -g -O2 -gno-record-gcc-switches -DWITH=optimize("O0")`, []string{"other"}},
		{`gcc -g -O0 -gno-record-gcc-switches -DWITH=optimize("O2")`, []string{"main", "same"}},
		// clang says of all functions of a unit whether it was optimized.
		{`clang -g -O2 -DWITH=optnone`, nil},
		{`clang -g -gdwarf-3 -O2 -DWITH=optnone`, []string{"other"}},
	} {
		t.Run(c.command, func(t *testing.T) {
			var plain []string
			for name, is := range judged(t, need.Built(t, c.command, "p.c", source)) {
				if is {
					plain = append(plain, name)
				}
			}
			if slices.Sort(plain); !slices.Equal(plain, c.plain) {
				t.Errorf("got %q, want %q", plain, c.plain)
			}
		})
	}
}

// judged gives what is said of the functions of a program's own source, by their names.
func judged(t *testing.T, path string) map[string]bool {
	t.Helper()
	d := debuginfo.Of(t, path)
	j := unoptimized.New(d)
	units, err := d.Units()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, u := range units {
		root, err := u.Root()
		if err != nil {
			t.Fatal(err)
		}
		// rustc names its units p.rs/@/p.123456-cgu.0, and gcc the one that it has linked <artificial>.
		name, _ := root.Val(dwarf.AttrName).(string)
		name, _, _ = strings.Cut(name, "/@/")
		if base := filepath.Base(name); !strings.HasPrefix(base, "p.") && base != "<artificial>" {
			continue
		}
		if err := u.Walk(func(e *dwarfinfo.Entry, _ int) (bool, error) {
			ranges, err := e.Ranges()
			if e.Tag == dwarf.TagSubprogram && len(ranges) > 0 {
				e = e.Keep()
				name, _ := dwarfinfo.Attribute(d.Origins(e), dwarf.AttrName).(string)
				out[name] = j.Is(e)
			}
			return e.Tag != dwarf.TagSubprogram, err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := out["main"]; !ok {
		t.Errorf("%s: no main among %v", path, out)
	}
	return out
}
