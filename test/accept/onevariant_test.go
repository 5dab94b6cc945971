package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

const enumsOfOneVariant = `#![allow(dead_code)]
use std::hint::black_box;
#[derive(Clone, Copy)] pub enum Empty { V }
#[derive(Clone, Copy)] pub enum One { V(i32) }
#[derive(Clone, Copy)] pub enum Pair { V(u8, i64) }
#[derive(Clone, Copy)] pub enum Three { V { a: i16, b: i16, c: i16 } }
#[derive(Clone, Copy)] pub enum Big { V(i64, i64, i64) }
#[derive(Clone, Copy)] pub struct Unit;
#[inline(never)] pub fn empty(p: Empty, q: u16, s: String) -> u16 { black_box(p); q + s.len() as u16 }
#[inline(never)] pub fn unit(p: Unit, q: u16, s: String) -> u16 { black_box(p); q + s.len() as u16 }
#[inline(never)] pub fn one(p: One, q: u16, s: String) -> u16 { black_box(p); q + s.len() as u16 }
#[inline(never)] pub fn pair(p: Pair, q: u16, s: String) -> u16 { black_box(p); q + s.len() as u16 }
#[inline(never)] pub fn three(p: Three, q: u16, s: String) -> u16 { black_box(p); q + s.len() as u16 }
#[inline(never)] pub fn big(p: Big, q: u16, s: String) -> u16 { black_box(p); q + s.len() as u16 }
#[inline(never)] pub fn maybe(p: Option<Empty>, q: u16, s: String) -> u16 { black_box(p); q + s.len() as u16 }
#[inline(never)] pub fn maybe_one(p: Option<One>, q: u16, s: String) -> u16 { black_box(p); q + s.len() as u16 }
#[inline(never)] pub fn gives(q: u16, s: String) -> Pair { Pair::V(q as u8, s.len() as i64) }
fn main() {
    empty(Empty::V, 11, "a".into()); unit(Unit, 12, "bb".into()); one(One::V(-3), 13, "ccc".into());
    pair(Pair::V(4, -5), 14, "dddd".into()); three(Three::V { a: -1, b: 2, c: -3 }, 15, "e".into());
    big(Big::V(-1, -2, -3), 16, "f".into()); maybe(Some(Empty::V), 17, "g".into()); maybe(None, 18, "h".into());
    maybe_one(Some(One::V(-7)), 19, "i".into()); maybe_one(None, 20, "j".into()); black_box(gives(21, "kk".into()));
}
`

// An enum of Rust with one variant is what is in it, and nothing where nothing is: the other arguments of its functions
// have their places all the same.
func TestEnumsOfOneVariant(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "rustc -g", "single.rs", enumsOfOneVariant)
	point := binary + ":single::{empty,unit,one,pair,three,big,maybe,maybe_one}"
	e := startrace(t, "-q", "-e", `probe("uprobe:`+point+`", lambda e: print(e.func, e.args))`,
		"-e", `probe("uretprobe:`+binary+`:single::gives", lambda e: print(e.func, e.ret))`, "-c", binary).ok(t)
	want := `single::empty record(q = 11, s = "a")
single::unit record(q = 12, s = "bb")
single::one record(p = record(variant = "V", V = -3), q = 13, s = "ccc")
single::pair record(p = record(variant = "V", V = (4, -5)), q = 14, s = "dddd")
single::three record(p = record(variant = "V", V = record(a = -1, b = 2, c = -3)), q = 15, s = "e")
single::big record(p = record(variant = "V", V = (-1, -2, -3)), q = 16, s = "f")
single::maybe record(p = record(variant = "V"), q = 17, s = "g")
single::maybe record(p = None, q = 18, s = "h")
single::maybe_one record(p = record(variant = "V", V = -7), q = 19, s = "i")
single::maybe_one record(p = None, q = 20, s = "j")
single::gives record(variant = "V", V = (21, 2))
`
	if e.stdout != want {
		t.Errorf("got\n%s\nwant\n%s", e.stdout, want)
	}
}

const variantsWithoutValues = `#![allow(dead_code)]
use std::convert::Infallible;
use std::hint::black_box;
pub enum Tagged { A(i32), B(u8), C(Infallible) }
pub enum Wide { A(i32), B(i64, Infallible) }
pub enum Never { A(Infallible), B(Infallible) }
pub struct Deep { n: i16, r: Result<(), Infallible> }
#[inline(never)] pub fn small(p: Result<i32, Infallible>, q: u16, s: String) -> u16 {
    let _ = black_box(p); q + s.len() as u16
}
#[inline(never)] pub fn pair(p: Result<(i8, u64), Infallible>, q: u16, s: String) -> u16 {
    let _ = black_box(p); q + s.len() as u16
}
#[inline(never)] pub fn none(p: Option<Infallible>, q: u16, s: String) -> u16 { black_box(p); q + s.len() as u16 }
#[inline(never)] pub fn text(p: Result<String, Infallible>, q: u16, s: String) -> u16 {
    let _ = black_box(p); q + s.len() as u16
}
#[inline(never)] pub fn tagged(p: Tagged, q: u16, s: String) -> u16 { black_box(p); q + s.len() as u16 }
#[inline(never)] pub fn wide(p: Wide, q: u16, s: String) -> u16 { black_box(p); q + s.len() as u16 }
#[inline(never)] pub fn never(p: Option<Never>, q: u16, s: String) -> u16 { black_box(p); q + s.len() as u16 }
#[inline(never)] pub fn array(p: [Infallible; 0], q: u16, s: String) -> u16 { black_box(p); q + s.len() as u16 }
#[inline(never)] pub fn deep(p: Deep, q: u16, s: String) -> u16 { black_box(p); q + s.len() as u16 }
fn main() {
    small(Ok(-4), 11, "a".into()); pair(Ok((-1, 2)), 12, "bb".into()); none(None, 13, "ccc".into());
    text(Ok("x".into()), 14, "dddd".into()); tagged(Tagged::B(7), 15, "e".into()); wide(Wide::A(-5), 16, "f".into());
    never(None, 17, "g".into()); array([], 18, "h".into()); deep(Deep { n: -1, r: Ok(()) }, 19, "i".into());
}
`

// A variant that no value is of, as Err of Result<i32, Infallible>, takes no place: the other arguments have theirs.
// The enum is the only variant that it can be.
func TestVariantsWithoutValues(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "rustc -g", "never.rs", variantsWithoutValues)
	point := binary + ":never::{small,pair,none,text,tagged,wide,never,array,deep}"
	told := `probe("uprobe:` + point + `", lambda e: print(e.func, e.args))`
	e := startrace(t, "-q", "-e", told, "-c", binary).ok(t)
	want := `never::small record(p = record(variant = "Ok", Ok = -4), q = 11, s = "a")
never::pair record(p = record(variant = "Ok", Ok = (-1, 2)), q = 12, s = "bb")
never::none record(q = 13, s = "ccc")
never::text record(p = record(variant = "Ok", Ok = "x"), q = 14, s = "dddd")
never::tagged record(p = record(variant = "B", A = None, B = 7, C = <not shown>), q = 15, s = "e")
never::wide record(p = record(variant = "A", A = -5, B = None), q = 16, s = "f")
never::never record(q = 17, s = "g")
never::array record(q = 18, s = "h")
never::deep record(p = record(n = -1, r = record(variant = "Ok", Ok = ())), q = 19, s = "i")
`
	if e.stdout != want {
		t.Errorf("got\n%s\nwant\n%s", e.stdout, want)
	}
}

const structsInVariants = `use std::hint::black_box;
pub struct Part { a: i32, b: i64 }
pub enum Kind { Tuple(i32, Part, Part), Struct { x: u8, part: Part }, Nothing }
#[inline(never)] pub fn look(k: &Kind) -> i64 {
    match k {
        Kind::Tuple(n, p, q) => *n as i64 + p.a as i64 + q.b,
        Kind::Struct { x, part } => *x as i64 + part.b,
        _ => 0,
    }
}
fn main() {
    let part = |a, b| Part { a, b };
    println!("{}", look(&black_box(Kind::Tuple(1, part(2, -3), part(-4, 5)))) + look(&black_box(Kind::Nothing)) +
        look(&black_box(Kind::Struct { x: 6, part: part(-7, 8) })));
}
`

// A struct that lies in a tuple of a variant has its fields: its address in the tuple was an int without a type.
func TestStructsInVariants(t *testing.T) {
	needTracing(t)
	for _, command := range []string{"rustc -g", "rustc -g -O"} {
		binary := need.Built(t, command, "variants.rs", structsInVariants)
		e := startrace(t, "-q", script(t, `
seen = count()
def look(e):
    k = e.args.k
    if k.Tuple:
        seen["tuple", k.Tuple[0], k.Tuple[1].a, k.Tuple[1].b, k.Tuple[2].a, k.Tuple[2].b].add()
    elif k.Struct:
        seen["struct", k.Struct.x, k.Struct.part.a, k.Struct.part.b, 0, 0].add()
    else:
        seen[k.variant, 0, 0, 0, 0, 0].add()
probe("uprobe:`+binary+`:variants::look", look)
at_exit(lambda: [print(*k) for k, n in sorted(seen.items(), key = lambda kn: kn[0][0])])
`), "-c", binary).ok(t)
		if want := "22\nNothing 0 0 0 0 0\nstruct 6 -7 8 0 0\ntuple 1 2 -3 -4 5\n"; !strings.Contains(e.stdout, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", command, e.stdout, want)
		}
	}
}
