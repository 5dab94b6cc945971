package accept

import (
	"fmt"
	"slices"
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
#[inline(never)] pub fn look(s: &Shape, t: (i8, i64), a: [i32; 2]) -> i64 {
    if let Shape::Pair(p, _) = s { *p as i64 } else { t.1 + a[0] as i64 }
}
fn main() {
    for s in [Shape::Pair(-1, 1), Shape::One(-2), Shape::Two(-3, -4), Shape::Named { a: -5, b: -6 },
        Shape::Three(-7, -8, -9)] {
        look(std::hint::black_box(&s), (-1, -2), [-2, -3]);
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
		{"Three", `show(*s.Three)`, "f9 fff8 f7\n"},
		{"Three", `show(e.args.t[0], *e.args.a)`, "ff fffffffe fffffffd\n"},
	} {
		const text = "def show(a, b, c): printf(\"%%x %%x %%x\\n\", a, b, c)\n" +
			"def f(e):\n    s = e.args.s\n    %s\nprobe(\"uprobe:%s:variants::look\", f,\n" +
			"      where = lambda e: e.args.s.variant == %q)\n"
		e := startrace(t, "-q", script(t, fmt.Sprintf(text, c.code, binary, c.variant)), "-c", binary).ok(t)
		if e.stdout != c.want {
			t.Errorf("%s: got %s, want %s", c.code, e.stdout, c.want)
		}
	}
}

const widthReturned = `struct three { int a, b; short s; };
__attribute__((noinline)) int give(struct three v, int n) { return v.a + n; }
int main(void) { give((struct three){ -2, -3, -4 }, 1); return 0; }
`

// returnedWidths are what a kernel half returns, and how its elements are shown.
var returnedWidths = []struct{ returns, want string }{
	{"(a.v.a, a.v.b, a.v.s)", "fffffffe fffffffd fffc"},
	{"(a.v.a + 0, ~a.n, -a.n)", "fffffffffffffffe fffffffffffffffe ffffffffffffffff"},
	{"(a.v.a if a.n else a.v.b, a.v.a if a.n else a.v.s, a.v.a if a.n else -1)", "fffffffe fffffffe fffffffffffffffe"},
	{"(max(a.v.a, a.v.b), min(a.v.a, a.v.s), min(a.v.a, a.v.b + 0))", "fffffffe fffffffc fffffffffffffffd"},
	{"(a.v.a if a.n else 5, a.v.s or 7, a.n and a.v.b)", "fffffffe fffc fffffffd"},
	{"(cast('short', a.v.a), cast('signed char', a.v.a + 1), -1)", "fffe ff ffffffffffffffff"},
}

// What a kernel half returns has the width of its field, whether it returns at one place or at several, and whether the
// value is alone, in a tuple or in a record.
//
// > A field that a kernel half or a function of `event()` returns keeps its width, alone, in a tuple and in a
// > `record()`.
// > Of several fields, and of constants that are not negative, it is there the width of the widest.
func TestOwnWidthOfReturned(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -g", "returned.c", widthReturned)
	const show = `
def three(a, b, c): printf("%x %x %x\n", a, b, c)
def unpacked(e):
    a, b, c = e.value
    printf("%x %x %x\n", a, b, c)
`
	for _, c := range returnedWidths {
		for _, start := range []string{"", "    if a.n == 77: return None\n"} {
			for _, at := range [][2]string{{"uprobe:", "e.args"}, {"ufunc:", "e.start.args"}} {
				text := show + fmt.Sprintf("P = %q\ndef half(e):\n    a = %s\n%s    return %s\n",
					at[0]+binary+":give", at[1], start, c.returns)
				text += "def fields(e):\n    a = " + at[1] + "\n" + start + "    x, y, z = " + c.returns +
					"\n    return record(x = x, y = y, z = z)\n"
				text += `
probe(P, lambda e: printf("%x %x %x\n", e.value[0], e.value[1], e.value[2]), kernel = half)
probe(P, lambda e: printf("%x %x %x\n", *e.value), kernel = half)
probe(P, lambda e: three(*e.value), kernel = half)
probe(P, unpacked, kernel = half)
probe(P, lambda e: printf("%x %x %x\n", e.x, e.y, e.z), kernel = fields)
probe(event((P, fields), doc = "d"), lambda e: three(e.x, e.y, e.z))
`
				got := lines(startrace(t, "-q", script(t, text), "-c", binary).ok(t).stdout)
				equalLines(t, got, slices.Repeat([]string{c.want}, 6))
			}
		}
	}
}

// One value that a kernel half returns has the width of its field, also where a function that it calls gives it.
func TestOwnWidthOfReturnedAlone(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -g", "returned.c", widthReturned)
	for returns, want := range map[string]string{"e.args.v.a": "fffffffe", "e.args.v.s": "fffc",
		"part(e)": "fffffffd", "e.args.v.a - 1": "fffffffffffffffd"} {
		text := fmt.Sprintf("P = %q\n", "uprobe:"+binary+":give") + `
def part(e):
    if e.args.n == 77: return e.args.v.a
    return e.args.v.b
def half(e):
    if e.args.n == 78: return None
    return ` + returns + `
probe(P, lambda e: printf("%x\n", e.value), kernel = half)
probe(P, lambda e: printf("%x\n", e.value), kernel = lambda e: ` + returns + `)
`
		equalLines(t, lines(startrace(t, "-q", script(t, text), "-c", binary).ok(t).stdout), []string{want, want})
	}
}

// The larger and the smaller of fields of one width have it in user code, too.
//
// > `min` and `max` of two fields of one width keep it.
func TestOwnWidthOfExtremes(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -g", "returned.c", widthReturned)
	text := fmt.Sprintf("P = %q\n", "uprobe:"+binary+":give") + `
def f(e):
    a, b, s = e.args.v.a, e.args.v.b, e.args.v.s
    printf("%x %x %x %x\n", max(a, b), min(a, b), max([a, b]), min((a, b)))
    printf("%x %x\n", max([x for x in (a, b)]), min([a, b], key = lambda x: x))
    printf("%x %x %x\n", max(a, s), max(a, -5), max(a + 0, b))
probe(P, f)
`
	const want = `fffffffe fffffffd fffffffe fffffffd
fffffffe fffffffffffffffd
fffffffffffffffe fffffffffffffffe fffffffffffffffe
`
	if e := startrace(t, "-q", script(t, text), "-c", binary).ok(t); e.stdout != want {
		t.Errorf("got\n%s\nwant\n%s", e.stdout, want)
	}
}

// A variable that is a constant before it is set to a field has 64 bits in a user half; one that is fields alone has
// their bits.
//
// > So has one of a user half that is a constant before: `s = 0`, and in a loop `s = v`.
func TestOwnWidthAfterConstants(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -g", "returned.c", widthReturned)
	text := fmt.Sprintf("P = %q\n", "uprobe:"+binary+":give") + `
def f(e):
    a, b = e.args.v.a, e.args.v.b
    s, of_field, by_if = 0, a, 0
    for v in (a, b):
        s = v
        of_field = v
    if a < 0:
        by_if = a
    printf("%x %x %x\n", s, of_field, by_if)
probe(P, f)
`
	const want = "fffffffffffffffd fffffffd fffffffffffffffe\n"
	if e := startrace(t, "-q", script(t, text), "-c", binary).ok(t); e.stdout != want {
		t.Errorf("got\n%s\nwant\n%s", e.stdout, want)
	}
}
