package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// valuesOfRust hands over values of all kinds of types of Rust, and says of each call what they are.
const valuesOfRust = `#![allow(dead_code)]
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::hint::black_box;
use std::num::NonZeroU32;
use std::rc::Rc;
use std::sync::Arc;
#[derive(Clone)] pub enum Shape { Empty, Circle(f64), Rect { w: u32, h: i32 }, Named(String), Two(u8, u16) }
#[derive(Clone, Copy)] pub enum Size { Small(i8), Large(i64) }
#[derive(Clone, Copy)] pub enum Sign { Minus = -1, None, Plus }
#[derive(Clone)] pub struct Customer { name: String, age: u32 }
pub struct Order<'a> {
    id: u32, shape: Shape, size: Size, sign: Sign, note: Option<String>, discount: Option<i32>, part: Option<&'a i32>,
    number: Option<NonZeroU32>, buyer: Option<Box<Customer>>, result: Result<u32, String>, items: Vec<u16>,
    people: Vec<Customer>, boxed: Box<Customer>, rc: Rc<Customer>, arc: Arc<Customer>, pair: (u8, i64, &'static str),
    slice: &'a [i32], nothing: (), seen: HashMap<u32, u32>, tags: HashSet<u8>, lines: BTreeMap<u32, u32>,
    keys: BTreeSet<u8>, queue: VecDeque<u8>, inner: Option<Option<bool>>, text: Option<&'a str>,
    parts: Option<Vec<u8>>, sized: Option<Sign>, large: Option<Size>, boxed_text: Box<str>, boxed_list: Box<[u16]>,
    cell: Cell<u8>, many: Option<(u8, u8)>,
}
#[no_mangle] #[inline(never)] pub extern "C" fn checkout(o: &Order) -> u32 { black_box(o).id }

fn main() {
    for n in 0..5u32 {
        let (odd, x, slice) = (n % 2 == 1, 7 + n as i32, [n as i32, -2, 3]);
        let shape = match n {
            0 => Shape::Empty, 1 => Shape::Circle(n as f64 + 0.5), 2 => Shape::Rect { w: 3, h: -4 },
            3 => Shape::Named(format!("nm{n}")), _ => Shape::Two(200, 40000),
        };
        let c = Customer { name: format!("c{n}"), age: n };
        let o = Order {
            id: n, shape, size: if odd { Size::Small(-5) } else { Size::Large(-1 << 40) },
            sign: match n { 0 => Sign::Minus, 1 => Sign::None, _ => Sign::Plus }, note: odd.then(|| format!("note{n}")),
            discount: odd.then_some(-(n as i32)), part: odd.then_some(&x), number: NonZeroU32::new(n),
            buyer: odd.then(|| Box::new(c.clone())), result: if odd { Ok(9) } else { Err("bad".into()) },
            items: (0..n as u16).collect(), people: vec![c.clone(); n as usize], boxed: Box::new(c.clone()),
            rc: Rc::new(c.clone()), arc: Arc::new(c.clone()), pair: (n as u8, -2, "tt"), slice: &slice, nothing: (),
            seen: (0..n).map(|i| (i, i)).collect(), tags: (0..n as u8 + 1).collect(),
            lines: (0..n * 100).map(|i| (i, i)).collect(), keys: (0..n as u8 + 2).collect(),
            queue: (0..n as u8 + 3).collect(),
            inner: match n { 0 => None, 1 => Some(Some(true)), 2 => Some(Some(false)), _ => Some(None) },
            text: odd.then_some("os"), parts: odd.then(|| vec![1, n as u8]), sized: odd.then_some(Sign::Plus),
            large: odd.then_some(Size::Small(-9)), boxed_text: "boxed".into(), boxed_list: vec![5, n as u16].into(),
            cell: Cell::new(n as u8), many: odd.then_some((n as u8, 2)),
        };
        let or = |b: bool, s: String| if b { s } else { "None".into() };
        let list = |v: &[String]| if v.len() == 1 { format!("({},)", v[0]) } else { format!("({})", v.join(", ")) };
        let items: Vec<String> = o.items.iter().map(|i| i.to_string()).collect();
        println!("P {n} {} {} {} {} {} {} {}", or(odd, format!("note{n}")), or(odd, format!("-{n}")),
            or(odd, x.to_string()), or(n > 0, n.to_string()), or(odd, format!("c{n}")), list(&items), o.people.len());
        println!("Q c{n} c{n} c{n} {n} ({n}, -2, \"tt\") ({n}, -2, 3) () {} {} {} {} {}", o.seen.len(), o.tags.len(),
            o.lines.len(), o.keys.len(), o.queue.len());
        println!("R {} {} {} {} {} boxed (5, {n}) {n} {}",
            match n { 1 => "True", 2 => "False", _ => "None" }, or(odd, "os".into()), or(odd, format!("(1, {n})")),
            match n { 0 => -1, 1 => 0, _ => 1 }, or(odd, "1".into()), or(odd, format!("({n}, 2)")));
        println!("S {} {} {} {} {} {}", ["Empty", "Circle", "Rect", "Named", "Two"][n as usize],
            or(n == 1, "1.5".into()), or(n == 3, "nm3".into()), or(n == 2, "3 -4".into()),
            or(n == 4, "(200, 40000)".into()), if odd { "Ok 9 None" } else { "Err None bad" });
        println!("T {} {}", if odd { "Small -5 None" } else { "Large None -1099511627776" },
            or(odd, "-9".into()));
        checkout(black_box(&o));
    }
}
`

// Both halves see what types of Rust stand for.
//
// > An `Option` of Rust is what it holds, and None where that is nothing or None again; a `Box`, an `Rc` and an `Arc`
// > are the pointer in them.
// > A `Vec` is a list, a tuple a tuple, and a `NonZero` and a `Cell` what is in them.
// > Of another enum with something in its variants `.variant` is the name of the variant, and each variant is a field:
// > what is in it, and None where the enum is another one.
// > `len` of a `HashMap`, `HashSet`, `BTreeMap`, `BTreeSet`, `VecDeque`, `LinkedList` and `BinaryHeap` is how many
// > elements they have.
// > As a value such an enum is a record of these, or where more than 8 variants have something in them of the name
// > alone.
func TestValuesOfRust(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, level := range []string{"0", "2"} {
		binary := need.Built(t, "rustc -g -C opt-level="+level, "values.rs", valuesOfRust)
		e := startrace(t, "-q", script(t, strings.ReplaceAll(scriptOfRust, "BIN", binary)), "-c", binary).ok(t)
		said := byFirstWord(e.stdout)
		if len(said["P"]) != 5 {
			t.Fatalf("opt-level %s: the program says %v", level, said)
		}
		for _, is := range []string{"P", "Q", "R", "S", "T"} {
			equalLines(t, said[strings.ToLower(is)], said[is])
		}
		equalLines(t, said["kept"], said["K"])
		equalLines(t, said["where"], []string{"2"})
		equalLines(t, said["whole"], []string{
			`record(variant = "Empty", Circle = None, Named = None) record(variant = "Err", Ok = None, Err = "bad")`,
			`record(variant = "Circle", Circle = 1.5, Named = None) record(variant = "Ok", Ok = 9, Err = None)`,
			`record(variant = "Rect", Circle = None, Named = None) record(variant = "Err", Ok = None, Err = "bad")`,
			`record(variant = "Named", Circle = None, Named = "nm3") record(variant = "Ok", Ok = 9, Err = None)`,
			`record(variant = "Two", Circle = None, Named = None) record(variant = "Err", Ok = None, Err = "bad")`,
		})
	}
}

const scriptOfRust = `
AT = "uprobe:BIN:checkout"
kept = table()
def orders(e):
    o = e.args.o
    print("p", o.id, o.note, o.discount, o.part, o.number,
        o.buyer.name if o.buyer != None else None, o.items, len(o.people))
def pointers(e):
    o = e.args.o
    print("q", o.boxed.name, o.rc.name, o.arc.name, o.arc.age, o.pair, o.slice, o.nothing, len(o.seen), len(o.tags),
        len(o.lines), len(o.keys), len(o.queue))
def options(e):
    o = e.args.o
    print("r", o.inner, o.text, o.parts, o.sign, o.sized, o.boxed_text, o.boxed_list,
        o.cell, o.many)
def shapes(e):
    s = e.args.o.shape
    r = e.args.o.result
    print("s", s.variant, s.Circle, s.Named, "%d %d" % (s.Rect.w, s.Rect.h) if s.Rect != None else None,
        (s.Two[0], s.Two[1]) if s.Two != None else None, r.variant, r.Ok, r.Err)
def sizes(e):
    o = e.args.o
    print("t", o.size.variant, o.size.Small, o.size.Large, o.large.Small if o.large != None else None)
def keep(e):
    o = e.args.o
    kept[o.id] = (o.shape.variant, o.shape.Circle, o.discount, o.number, o.result.Ok, o.pair[1])
def end():
    for n in range(5):
        print("kept", *kept[n])
        print("K", ["Empty", "Circle", "Rect", "Named", "Two"][n], 1.5 if n == 1 else None, -n if n % 2 else None,
            n or None, 9 if n % 2 else None, -2)
probe(AT, orders)
probe(AT, pointers)
probe(AT, options)
probe(AT, shapes)
probe(AT, sizes)
probe(AT, kernel = keep)
probe(AT, lambda e: print("where", e.args.o.id),
      where = lambda e: e.args.o.shape.variant == "Rect" and e.args.o.shape.Rect.h == -4)
def whole(e):
    s = e.args.o.shape
    print("whole", record(variant = s.variant, Circle = s.Circle, Named = s.Named), e.args.o.result)
probe(AT, whole)
at_exit(end)
`

// byFirstWord gives the lines of an output by their first words, without these.
func byFirstWord(stdout string) map[string][]string {
	said := map[string][]string{}
	for _, line := range lines(stdout) {
		what, rest, _ := strings.Cut(line, " ")
		said[what] = append(said[what], rest)
	}
	return said
}
