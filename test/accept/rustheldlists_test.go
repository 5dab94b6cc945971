package accept

import (
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// heldLists hands over lists that Options and variants of enums hold.
const heldLists = `#![allow(dead_code)]
use std::hint::black_box;
use std::rc::Rc;
pub enum Either { List(Vec<u8>), Number(i32), Nothing }
pub struct All {
    n: u32, list: Option<Vec<i32>>, shared: Option<Rc<[u16]>>, boxed: Option<Box<[u8]>>, either: Either,
    inner: Option<Either>,
}
#[no_mangle] #[inline(never)] pub extern "C" fn see(a: &All) -> u32 { black_box(a).n }
fn main() {
    let either = |n| match n { 0 => Either::Nothing, 1 => Either::List(vec![8, 9]), _ => Either::Number(-7) };
    for n in 0..3u32 {
        let there = n > 0;
        see(black_box(&All {
            n, list: there.then(|| (0..n as i32).map(|i| i - 3).collect()),
            shared: there.then(|| vec![5, n as u16].into()), boxed: there.then(|| vec![n as u8].into()), either: either(n), inner: there.then(|| either(n)),
        }));
    }
}
`

// Both halves see a list of numbers that an Option or a variant holds as that list.
func TestHeldListsOfRust(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	want := []string{
		"0 None None None None", "1 (-3,) (5, 1) (1,) (8, 9)", "2 (-3, -2) (5, 2) (2,) None",
	}
	for _, level := range []string{"0", "2"} {
		binary := need.Built(t, "rustc -g -C opt-level="+level, "held.rs", heldLists)
		e := startrace(t, "-q", script(t, strings.ReplaceAll(scriptOfHeldLists, "BIN", binary)), "-c", binary).ok(t)
		said := byFirstWord(e.stdout)
		equalLines(t, said["user"], slices.Clone(want))
		equalLines(t, said["kernel"], slices.Clone(want))
		equalLines(t, said["parts"], []string{"1 1 -3 2 1 2 9", "2 2 -3 2 2 <fault> <fault>"})
		equalLines(t, said["kparts"], []string{"1 1 -3 2", "2 2 -3 2"})
		equalLines(t, said["absent"], []string{"0 <fault> <fault>"})
		equalLines(t, said["where"], []string{"2"})
		equalLines(t, said["inner"], []string{"0 None", `1 record(variant = "List", List = (8, 9), Number = None)`,
			`2 record(variant = "Number", List = None, Number = -7)`})
	}
}

const scriptOfHeldLists = `
seen = table()
parts = table()
def user(e):
    a = e.args.a
    print("user", a.n, a.list, a.shared, a.boxed, a.either.List)
def each(e):
    a = e.args.a
    l = a.list
    if l != None:
        print("parts", a.n, len(l), l[0], len(a.shared), a.shared[1], len(a.either.List), a.either.List[1])
    else:
        print("absent", a.n, len(l), l[0])
def kernel(e):
    a = e.args.a
    seen[a.n] = (a.list, a.shared, a.boxed, a.either.List)
def keach(e):
    l = e.args.a.list
    if l != None:
        parts[e.args.a.n] = (len(l), l[0], len(e.args.a.shared))
def end():
    for n in range(3):
        print("kernel", n, *seen[n])
        if n in parts:
            print("kparts", n, *parts[n])
probe("uprobe:BIN:see", user)
probe("uprobe:BIN:see", each)
probe("uprobe:BIN:see", kernel = kernel)
probe("uprobe:BIN:see", kernel = keach)
probe("uprobe:BIN:see", lambda e: print("inner", e.args.a.n, e.args.a.inner))
probe("uprobe:BIN:see", lambda e: print("where", e.args.a.n), where = lambda e: e.args.a.list[1] == -2)
at_exit(end)
`
