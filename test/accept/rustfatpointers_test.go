package accept

import (
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// fatPointers hands over what is shared and has a length or a table of functions, in memory and in registers.
const fatPointers = `#![allow(dead_code)]
use std::hint::black_box;
use std::rc::{Rc, Weak};
use std::sync::Arc;
pub trait Area { fn area(&self) -> u32; }
pub struct Square(u32);
impl Area for Square { fn area(&self) -> u32 { self.0 } }
pub struct All {
    n: u32, numbers: Rc<[i16]>, shared: Arc<[u64]>, text: Rc<str>, word: Arc<str>, names: Rc<[String]>,
    three: Rc<[u8; 3]>, one: Rc<dyn Area>, other: Arc<dyn Area>, weak: Weak<[i16]>, boxed: Box<dyn Area>,
}
#[no_mangle] #[inline(never)] pub extern "C" fn see(a: &All) -> usize { black_box(&a.boxed as *const _ as usize) }
#[inline(never)] pub fn list(l: Rc<[u16]>) -> usize { black_box(&l).len() }
#[inline(never)] pub fn word(w: Arc<str>) -> usize { black_box(&w).len() }
fn main() {
    for n in 0..3u32 {
        let numbers: Rc<[i16]> = (0..n as i16).map(|i| -i).collect();
        let name = |i: u32| format!("s{i}");
        let a = All {
            n, weak: Rc::downgrade(&numbers), numbers, shared: vec![u64::MAX, n as u64].into(),
            text: "x".repeat(n as usize).into(), word: format!("w{n}").into(), names: (0..n).map(name).collect(),
            three: Rc::new([n as u8, 2, 3]), one: Rc::new(Square(n)), other: Arc::new(Square(n)),
            boxed: Box::new(Square(40 + n)),
        };
        see(black_box(&a));
        black_box(list as fn(Rc<[u16]>) -> usize)((0..n as u16).collect());
        black_box(word as fn(Arc<str>) -> usize)(format!("r{n}").into());
        black_box((a.one.area(), a.other.area(), a.boxed.area(), a.weak.upgrade()));
    }
}
`

// Both halves see what these lead to, and of what cannot be followed that it is not read: none is its own address.
//
// > One of a `str` is a string, one of a slice a list; of an `Rc` and an `Arc` of a `dyn` the value is `<not shown>`.
func TestFatPointersOfRust(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	want := []string{
		`0 () (18446744073709551615, 0)  w0 0 0 3`,
		`1 (0,) (18446744073709551615, 1) x w1 1 1 3`,
		`2 (0, -1) (18446744073709551615, 2) xx w2 2 2 3`,
	}
	for _, level := range []string{"0", "2"} {
		binary := need.Built(t, "rustc -g -C opt-level="+level, "fat.rs", fatPointers)
		e := startrace(t, "-q", script(t, strings.ReplaceAll(scriptOfFatPointers, "BIN", binary)), "-c", binary).ok(t)
		said := byFirstWord(e.stdout)
		equalLines(t, said["user"], slices.Clone(want))
		equalLines(t, said["kernel"], slices.Clone(want))
		equalLines(t, said["unread"], slices.Repeat([]string{"<not shown> <not shown> <not shown>"}, 3))
		equalLines(t, said["last"], []string{"s0", "s1"})
		equalLines(t, said["where"], []string{"2"})
		equalLines(t, said["boxed"], []string{"40", "41", "42"})
		equalLines(t, said["list"], []string{"() 0", "(0, 1) 2", "(0,) 1"})
		equalLines(t, said["word"], []string{"r0", "r1", "r2"})
	}
}

const scriptOfFatPointers = `
seen = table()
def user(e):
    a = e.args.a
    print("user", a.n, a.numbers, a.shared, a.text, a.word, len(a.names), len(a.numbers), len(a.three[0]))
def unread(e):
    print("unread", e.args.a.one, e.args.a.other, e.args.a.weak)
def last(e):
    if len(e.args.a.names) > 0:
        print("last", e.args.a.names[-1])
def kernel(e):
    a = e.args.a
    seen[a.n] = (a.numbers, a.shared, a.text, a.word, len(a.names), len(a.numbers), len(a.three[0]))
def end():
    for n in range(3):
        print("kernel", n, *seen[n])
probe("uprobe:BIN:see", user)
probe("uprobe:BIN:see", unread)
probe("uprobe:BIN:see", last)
probe("uprobe:BIN:see", kernel = kernel)
probe("uprobe:BIN:see", lambda e: print("where", e.args.a.n),
      where = lambda e: e.args.a.word == "w2" and e.args.a.numbers[1] == -1)
probe("uprobe:BIN:see", lambda e: print("boxed", mem(e.args.a.boxed, 4)[0]))
probe("uprobe:BIN:fat::list", lambda e: print("list", e.args.l, len(e.args.l)))
probe("uprobe:BIN:fat::word", lambda e: print("word", e.args.w))
at_exit(end)
`
