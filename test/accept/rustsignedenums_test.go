package accept

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// signedEnums is a program that hands over enums with something in them whose discriminants are below 0, of each width,
// and says of each which one it is.
func signedEnums() string {
	var types, fields, values strings.Builder
	for _, r := range signedReprs {
		fmt.Fprintf(&types, "#[derive(Clone, Copy)] #[repr(%s)] pub enum N%[1]s "+
			"{ A(u8) = -1, B(u16) = %[1]s::MIN, C(u8) = 5, D = -100, E(u8) = %[1]s::MAX }\n", r)
		fmt.Fprintf(&fields, "%s: N%[1]s, ", r)
		fmt.Fprintf(&values, "%s: match n { 0 => N%[1]s::A(7), 1 => N%[1]s::B(700), 2 => N%[1]s::C(8), "+
			"3 => N%[1]s::D, _ => N%[1]s::E(9) }, ", r)
	}
	return "#![allow(dead_code)]\n" + types.String() + "pub struct All { n: u32, " + fields.String() + `}
#[no_mangle] #[inline(never)] pub extern "C" fn see(a: &All) -> u32 { std::hint::black_box(a).n }
fn main() { for n in 0..5u32 { see(&All { n, ` + values.String() + "}); } }\n"
}

var signedReprs = []string{"i8", "i16", "i32", "i64", "isize"}

// An enum with something in its variants is read by a discriminant below 0, of whatever width, by both halves.
func TestSignedEnumsOfRust(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	var want []string
	for _, r := range signedReprs {
		for _, is := range []string{
			"A 7 None None", "B None 700 None", "C None None 8", "D None None None", "E None None None",
		} {
			want = append(want, r+" "+is)
		}
	}
	for _, level := range []string{"0", "2"} {
		binary := need.Built(t, "rustc -g -C opt-level="+level, "signed.rs", signedEnums())
		var s strings.Builder
		s.WriteString("seen = table()\n")
		for _, r := range signedReprs {
			fmt.Fprintf(&s, `
def user_%[1]s(e):
    x = e.args.a.%[1]s
    print("user", "%[1]s", x.variant, x.A, x.B, x.C)
def kernel_%[1]s(e):
    x = e.args.a.%[1]s
    seen[("%[1]s", e.args.a.n)] = (x.variant, x.A, x.B, x.C)
probe("uprobe:BIN:see", user_%[1]s)
probe("uprobe:BIN:see", kernel = kernel_%[1]s)
probe("uprobe:BIN:see", lambda e: print("where", "%[1]s", e.args.a.n), where = lambda e: e.args.a.%[1]s.A != None)
probe("uprobe:BIN:see", lambda e: print("max", "%[1]s", e.args.a.n), where = lambda e: e.args.a.%[1]s.E == 9)
`, r)
		}
		s.WriteString(`
def end():
    for r in ` + fmt.Sprintf("%q", strings.Join(signedReprs, " ")) + `.split(" "):
        for n in range(5):
            print("kernel", r, *seen[(r, n)])
at_exit(end)
`)
		e := startrace(t, "-q", script(t, strings.ReplaceAll(s.String(), "BIN", binary)), "-c", binary).ok(t)
		said := byFirstWord(e.stdout)
		equalLines(t, said["user"], slices.Clone(want))
		equalLines(t, said["kernel"], slices.Clone(want))
		equalLines(t, said["where"], []string{"i16 0", "i32 0", "i64 0", "i8 0", "isize 0"})
		equalLines(t, said["max"], []string{"i16 4", "i32 4", "i64 4", "i8 4", "isize 4"})
	}
}
