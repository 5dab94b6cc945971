package signature

import (
	"os/exec"
	"strings"
	"testing"
)

const ofRust = `use std::hint::black_box;
#[inline(never)] fn ints(a: i8, b: u8, c: i16, d: u32) -> i8 { black_box((b, c, d)); black_box(a) }
#[inline(never)] fn nothing(z: i32) { black_box(z); }
#[inline(never)] fn others(c: char, b: bool, r: &i32, z: i16) -> u16 { black_box((c, b, r)); black_box(z) as u16 }
#[inline(never)] fn slice(s: &str, z: i8) -> i8 { black_box(s); black_box(z) }
#[inline(never)] fn wide(w: i128, z: i8) -> i8 { black_box(w); black_box(z) }
#[inline(never)] fn by_ref(r: &i32, z: i16) -> i32 { *r + z as i32 }
#[inline(never)] fn unused(a: i32, z: i8) -> i8 { black_box(z) }
pub struct Pair { a: u32, b: u32 }
pub struct Words { a: u64, b: u64 }
pub struct Float(f64);
#[inline(never)] fn pair(p: Pair) -> u32 { black_box(p.a) + p.b }
#[inline(never)] fn words(p: Words, z: i8) -> i8 { black_box(p.a + p.b); black_box(z) }
#[inline(never)] fn float(p: Float, s: &str, z: i8) -> i8 { black_box((p.0, s)); black_box(z) }
fn main() {
    black_box((pair(Pair { a: 1, b: 2 }), words(Words { a: 1, b: 2 }, 3), float(Float(1.0), "", 2)));
    black_box(ints(-1, 255, -2, 4294967295)); nothing(-3); black_box(others('x', true, &5, -1));
    black_box(slice("abc", -1)); black_box(wide(1, 2)); black_box(by_ref(&black_box(-9), -5)); black_box(unused(5, -7));
}
`

// Functions that are private to a program of Rust: those of scalars are known, where the compiler changed nothing.
//
// > Functions of Rust that are private to their program, which are nearly all, are known where it was built without
// > optimization, by Rust 1.95 or newer.
// > Elsewhere they are as those that the compiler may have changed.
// > Otherwise the function could be one as in C (`extern "C"`), which debug information does not tell.
// > A struct that has nothing but one float in it, and an `i128`, are not known.
func TestPrivateFunctionsOfRust(t *testing.T) {
	rust195(t)
	known := build(t, "rustc -g -C opt-level=0", "x.rs", ofRust)
	for name, want := range map[string]string{
		"ints": "s8 (s8 u8 s16 u32)", "nothing": " (s32)", "others": "u16 (u32 u8 address s16)",
		"slice": "s8 (address u64 s8)", "pair": "u32 (unknown)", "float": "s8 (unknown)", "words": "s8 (u64 u64 s8)",
		"wide": "s8 (unknown)", "unused": "s8 (s32 s8)",
	} {
		if got := text(known(rustName(name))); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	known = build(t, "rustc -g -C opt-level=3", "x.rs", ofRust)
	for _, name := range []string{"unused", "by_ref"} { // its first parameter is gone, or what it points to
		if got := known(rustName(name)); got != nil && !got.OnlyResult {
			t.Errorf("%s: got %s", name, text(got))
		}
	}
}

const methodsOfRust = `use std::hint::black_box;
pub struct Point { x: i32 }
impl Point {
    #[inline(never)] fn sum(&self, k: i32, l: i32) -> i32 { black_box(self.x + k * l) }
    #[inline(never)] fn make(k: i32, l: i32) -> i32 { black_box(k * l) }
    #[inline(never)] fn address(k: i32, l: i32) -> i32 { black_box(&k); black_box(&l); k + l }
    #[inline(never)] fn nothing() -> i32 { black_box(7); 8 }
}
pub enum Either { A(i64), B(String) }
impl Either {
    #[inline(never)] fn take(self, k: i32) -> i32 { match self { Either::A(n) => n as i32 * k, _ => 1 } }
}
#[derive(Clone, Copy)] pub union Both { a: i32, b: u8 }
impl Both { #[inline(never)] fn both(self, k: i32) -> i32 { unsafe { black_box(self.a) + k } } }
pub struct Of<T> { t: T }
impl<T: Copy + Into<i64>> Of<T> { #[inline(never)] fn generic(&self, k: i32) -> i64 { self.t.into() * k as i64 } }
fn main() {
    let n = std::env::args().count() as i32;
    Point { x: n }.sum(n + 1, 7); Point::make(6, n); Point::make(6, n + 1); Point::nothing();
    Point::address(n, 7); Point::address(n + 1, 7); Both { a: n }.both(3);
    println!("{}", Either::A(n as i64).take(4) + Either::B("x".into()).take(4));
    println!("{}", Of { t: n }.generic(9) + Of { t: n as i64 }.generic(9));
}
`

// Methods of Rust stand in debug information where the types declare them. LLVM does not mark those that it changed.
func TestMethodsOfRust(t *testing.T) {
	rust195(t)
	names := []string{"sum", "make", "address", "nothing", "take", "both", "generic"}
	known := build(t, "rustc -g -C opt-level=0", "x.rs", methodsOfRust)
	for _, name := range names {
		if got := known(rustName(name)); got == nil || got.OnlyResult && name != "both" || len(got.Result) != 1 {
			t.Errorf("%s: got %s without optimization", name, text(got))
		}
	}
	for _, options := range []string{"-C opt-level=1", "-C opt-level=2", "-C opt-level=1 -C codegen-units=16"} {
		known = build(t, "rustc -g -C panic=abort "+options, "x.rs", methodsOfRust)
		for _, name := range names {
			if got := known(rustName(name)); got != nil && (!got.OnlyResult || !got.Result[0].Unknown) {
				t.Errorf("%s: got %s with %s", name, text(got), options)
			}
		}
	}
}

// rust195 skips where there is no compiler of Rust that says of which functions it changed the arguments.
func rust195(t *testing.T) {
	out, err := exec.Command("rustc", "--version").Output()
	if err != nil {
		t.Skip("needs rustc:", err)
	}
	if !tellsChanges(strings.Replace(string(out), "rustc ", "rustc version ", 1)) {
		t.Skip("needs rustc 1.95 or newer: ", string(out))
	}
}

// rustName is a part of the symbol that a function of the program has, in both of Rust's ways to write names.
func rustName(name string) string { return string(rune('0'+len(name))) + name }
