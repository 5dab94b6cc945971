package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// widthParts is a function for each struct that fits registers: it has one by value and one by its address, and returns
// one. All fields are negative.
const widthParts = `#define N __attribute__((noinline))
#define FUNCTION(name) N struct name f_##name(struct name v, struct name *p) { \
    __asm__ volatile("" : : "r"(&v), "r"(p) : "memory"); return *p; }
enum kind { LOW = -3, HIGH = 5 };
struct ints { int a, b, c, d; };
struct mixed { signed char c, d; short s; int i; long l; };
struct bits { int a : 5, b : 11, c : 16; short d : 3, e : 9; long f : 20; };
struct kinds { enum kind a, b, c; };
struct bytes { signed char v[16]; };
struct shorts { short v[2][3]; };
struct nested { struct { signed char c; struct { short s, t; } deep; } a; union { signed char c; short s; int i; } u; };
FUNCTION(ints) FUNCTION(mixed) FUNCTION(bits) FUNCTION(kinds) FUNCTION(bytes) FUNCTION(shorts) FUNCTION(nested)
#define CALL(name, ...) { struct name v = __VA_ARGS__; f_##name(v, &v); }
int main(void) {
    CALL(ints, { -1, -2, -3, -4 })
    CALL(mixed, { -1, -2, -3, -4, -5 })
    CALL(bits, { -16, -2, -3, -4, -5, -6 })
    CALL(kinds, { LOW, LOW, LOW })
    CALL(bytes, { { -1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12, -13, -14, -15, -16 } })
    CALL(shorts, { { { -1, -2, -3 }, { -4, -5, -6 } } })
    CALL(nested, { { -1, { -2, -3 } }, { .i = -4 } })
    return 0;
}
`

// A widthPart is a field of a struct of widthParts: its path, its value and the bits of its type.
type widthPart struct {
	path  string
	value int64
	bits  int
}

// partsOfWidths are the fields of each struct, with some that a variable, an unpacking or a loop has in between.
var partsOfWidths = map[string][]widthPart{
	"ints":  {{".a", -1, 32}, {".b", -2, 32}, {".c", -3, 32}, {".d", -4, 32}},
	"mixed": {{".c", -1, 8}, {".d", -2, 8}, {".s", -3, 16}, {".i", -4, 32}, {".l", -5, 64}},
	"bits": {{".a", -16, 32}, {".b", -2, 32}, {".c", -3, 32}, {".d", -4, 16}, {".e", -5, 16},
		{".f", -6, 64}},
	"kinds": {{".a", -3, 32}, {".b", -3, 32}, {".c", -3, 32}},
	"bytes": {{".v[0]", -1, 8}, {".v[1]", -2, 8}, {".v[7]", -8, 8}, {".v[8]", -9, 8}, {".v[-1]", -16, 8}},
	"shorts": {{".v[0][0]", -1, 16}, {".v[0][1]", -2, 16}, {".v[0][2]", -3, 16}, {".v[1][0]", -4, 16},
		{".v[1][2]", -6, 16}},
	"nested": {{".a.c", -1, 8}, {".a.deep.s", -2, 16}, {".a.deep.t", -3, 16}, {".u.c", -4, 8}, {".u.s", -4, 16},
		{".u.i", -4, 32}},
}

// shown is the part as the verbs of an unsigned number show it, and as a signed one.
func (p widthPart) shown() string {
	u := uint64(p.value) & (1<<(p.bits-1)<<1 - 1)
	return fmt.Sprintf("%x %o %d %b %d", u, u, u, u, p.value)
}

// partPlaces are the expressions that have a struct of widthParts, with the kind of point of each.
var partPlaces = [][2]string{{"uprobe", "e.args.v"}, {"uprobe", "e.args.p"}, {"ufunc", "e.start.args.v"},
	{"ufunc", "e.ret"}}

// eachPart calls f with the name of a struct, a place and a field, for all of them.
func eachPart(f func(name string, place [2]string, p widthPart)) {
	for name, parts := range partsOfWidths {
		for _, p := range parts {
			for _, place := range partPlaces {
				f(name, place, p)
			}
		}
	}
}

// Members of structs have the bits of their types, wherever in a register they lie: bit-fields, enums, elements of
// arrays, members of unions. So they have in arguments, in results, at the start of a call, and behind a pointer.
func TestOwnWidthOfPartsOfRegisters(t *testing.T) {
	needTracing(t)
	for _, command := range []string{"gcc -g -O0", "gcc -g -O2", "clang -g -O0", "clang -g -O2"} {
		binary := need.Built(t, command, "parts.c", widthParts)
		text := ""
		eachPart(func(name string, place [2]string, p widthPart) {
			x := place[1] + p.path
			text += fmt.Sprintf("probe(\"%s:%s:f_%s\", lambda e: printf(\"%s %s %%x %%o %%u %%b %%d\\n\", %s))\n",
				place[0], binary, name, name, x, strings.Repeat(", "+x, 5)[2:])
		})
		got := "\n" + startrace(t, "-q", script(t, text), "-c", binary).ok(t).stdout
		eachPart(func(name string, place [2]string, p widthPart) {
			want := fmt.Sprintf("%s %s%s %s\n", name, place[1], p.path, p.shown())
			if !strings.Contains(got, "\n"+want) {
				t.Errorf("%s: not found: %s", command, want)
			}
		})
	}
}

const widthVariants = `pub enum Shape { Pair(i8, u64), One(i16), Two(i32, i32), Named { a: i16, b: i32 }, Three(i8, i16, i8) }
#[inline(never)] pub fn look(s: &Shape, t: (i8, i64)) -> i64 { if let Shape::Pair(a, _) = s { *a as i64 } else { t.1 } }
fn main() {
    for s in [Shape::Pair(-1, 1), Shape::One(-2), Shape::Two(-3, -4), Shape::Named { a: -5, b: -6 },
        Shape::Three(-7, -8, -9)] {
        look(std::hint::black_box(&s), (-1, -2));
    }
}
`

// Elements of the variants of an enum of Rust have the bits of their types, as elements of tuples have: by an index, by
// unpacking, by a loop over those of one width, and by a star.
//
// > Of a tuple of the event, whose elements can have several widths, an index, unpacking and a star keep each its own:
// > `a, b = e.args.pair`.
func TestOwnWidthOfVariants(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "rustc -g", "variants.rs", widthVariants)
	for _, c := range []struct{ variant, code, want string }{
		{"Pair", `printf("%x %x\n", s.Pair[0], s.Pair[1])`, "ff 1\n"},
		{"Pair", `printf("%x %x\n", s.Pair[-2], s.Pair[-1])`, "ff 1\n"},
		{"Pair", `a, b = s.Pair; printf("%x %x\n", a, b)`, "ff 1\n"},
		{"Pair", `p = s.Pair; printf("%x %x\n", p[0], p[1])`, "ff 1\n"},
		{"Pair", `printf("%x %x\n", *s.Pair)`, "ff 1\n"},
		{"Pair", `printf("%x\n", s.Pair[0] - 1)`, "fffffffffffffffe\n"},
		{"Pair", `a, b = e.args.t; printf("%x %x\n", a, b)`, "ff fffffffffffffffe\n"},
		{"One", `printf("%x\n", s.One)`, "fffe\n"},
		{"Two", `print([sprintf("%x", x) for x in s.Two])`, "[\"fffffffd\", \"fffffffc\"]\n"},
		{"Two", `for x in s.Two: printf("%x\n", x)`, "fffffffd\nfffffffc\n"},
		{"Named", `printf("%x %x\n", s.Named.a, s.Named.b)`, "fffb fffffffa\n"},
		{"Three", `a, b, c = s.Three; printf("%x %x %x\n", a, b, c)`, "f9 fff8 f7\n"},
		{"Three", `printf("%x %x %x\n", *s.Three)`, "f9 fff8 f7\n"},
	} {
		text := fmt.Sprintf("def f(e):\n    s = e.args.s\n    %s\nprobe(\"uprobe:%s:variants::look\", f,\n"+
			"      where = lambda e: e.args.s.variant == %q)\n", c.code, binary, c.variant)
		if e := startrace(t, "-q", script(t, text), "-c", binary).ok(t); e.stdout != c.want {
			t.Errorf("%s: got %s, want %s", c.code, e.stdout, c.want)
		}
	}
}
