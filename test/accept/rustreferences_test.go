package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

const rustReferences = `use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::collections::HashMap;
pub struct P { pub x: i32, pub y: i64, pub name: String }
#[inline(never)] pub fn point(a: &P, b: &mut P, s: &str) -> usize { b.x += 1; a.name.len() + s.len() }
#[inline(never)] pub fn number(a: &i32, b: &mut u8, s: &str) -> usize { *b += 1; *a as usize + s.len() }
#[inline(never)] pub fn text(a: &String, b: &&str, s: &str) -> usize { a.len() + b.len() + s.len() }
#[inline(never)]
pub fn list(a: &Vec<i32>, b: &mut Vec<String>, s: &str) -> usize {
    b.push("c".into()); a.len() + s.len()
}
#[inline(never)] pub fn maps(a: &HashMap<String, i32>, s: &str) -> usize { a.len() + s.len() }
#[inline(never)]
pub fn cells(a: &Arc<P>, b: &Rc<P>, c: &Box<P>, d: Box<Arc<P>>, s: &str) -> usize {
    a.name.len() + b.name.len() + c.name.len() + d.name.len() + s.len()
}
#[inline(never)]
pub fn weak(a: &Weak<P>, b: Weak<P>, s: &str) -> usize {
    a.strong_count() + b.strong_count() + s.len()
}
#[inline(never)]
pub fn shared(a: &std::sync::Weak<P>, b: std::sync::Weak<P>, c: &Weak<P>, s: &str) -> usize {
    a.strong_count() + b.strong_count() + c.strong_count() + s.len()
}
#[inline(never)]
pub fn maybe(a: Option<Vec<String>>, b: &Option<Vec<String>>, c: Option<&P>, d: Option<&String>,
    e: Option<&i32>, s: &str) -> usize {
    a.map_or(0, |v| v.len()) + b.as_ref().map_or(0, |v| v.len()) + c.map_or(0, |p| p.x as usize)
    + d.map_or(0, |p| p.len()) + e.map_or(0, |p| *p as usize) + s.len()
}
#[inline(never)]
pub fn boxes(a: Box<Vec<i32>>, b: Box<i32>, c: Box<String>, d: Rc<Vec<i32>>, s: &str) -> usize {
    a.len() + *b as usize + c.len() + d.len() + s.len()
}
impl P { #[inline(never)] pub fn own(&self, k: &str) -> usize { self.name.len() + k.len() } }
fn p(n: i32) -> P { P { x: n, y: 10 * n as i64, name: format!("n{}", n) } }
fn main() {
    point(&p(1), &mut p(2), "s");
    number(&-5, &mut 7, "s");
    text(&"own".to_string(), &"lent", "s");
    list(&vec![1, 2, 3], &mut vec!["a".into(), "b".into()], "s");
    maps(&HashMap::from([("k".into(), 1), ("l".into(), 2)]), "s");
    let r = Rc::new(p(4));
    cells(&Arc::new(p(3)), &r, &Box::new(p(5)), Box::new(Arc::new(p(6))), "s");
    weak(&Rc::downgrade(&r), Rc::downgrade(&r), "s");
    let (a, lost) = (Arc::new(p(8)), Rc::downgrade(&Rc::new(p(9))));
    shared(&Arc::downgrade(&a), std::sync::Weak::new(), &lost, "s");
    maybe(Some(vec!["u".into(), "v".into()]), &Some(vec!["w".into()]), Some(&p(7)), Some(&"t".to_string()),
        Some(&8), "s");
    maybe(None, &None, None, None, None, "s");
    boxes(Box::new(vec![4, 5]), Box::new(6), Box::new("boxed".into()), Rc::new(vec![7, 8]), "s");
    p(9).own("k");
}
`

// A reference of Rust stands for what it refers to, and what is a pointer leads on, also behind another one.
//
// > A reference of Rust, `&T` or `&mut T`, is what it refers to, as one of C++.
// > So is a `Weak`, 0 where what it led to is gone.
// > Fields are reached through any of them, `e.args.order.y` of an `&Arc<Order>`, too.
func TestReferencesOfRust(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "rustc -g", "r.rs", rustReferences)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(`
B = "uprobe:BIN:r::"
n = count()
def kernel(e):
    a = e.args.a
    n[a.x, a.name, len(e.args.s)].add()
def point(e):
    print("point", e.args.a.x, e.args.a.y, e.args.a.name, e.args.b.x, e.args.b.name)
def list(e):
    a, b = e.args.a, e.args.b
    print("list", a, len(a), a[1], len(b), b[1], a == (1, 2, 3))
def cells(e):
    print("cells", e.args.a.y, e.args.b.name, e.args.c.x, e.args.d.y)
def shared(e):
    a, b, c = e.args.a, e.args.b, e.args.c
    print("shared", a.y, a.name, b, b.y == FAULT, c, c.y == FAULT)
def maybe(e):
    a, b = e.args.a, e.args.b
    print("maybe", len(a), a[0], len(b), b[0], e.args.c.x, e.args.d, e.args.e, a == None, e.args.c == None)
def boxes(e):
    a, d = e.args.a[0], e.args.d[0]
    print("boxes", len(a), a[1], e.args.b[0], e.args.c[0], len(d), d[1])
probe(B + "point", kernel)
probe(B + "point", point)
probe(B + "number", lambda e: print("number", e.args.a, e.args.b), where = lambda e: e.args.a < 0)
probe(B + "text", lambda e: print("text", e.args.a, e.args.b), where = lambda e: e.args.a == "own")
probe(B + "list", list)
probe(B + "maps", lambda e: print("maps", len(e.args.a)))
probe(B + "cells", cells)
probe(B + "weak", lambda e: print("weak", e.args.a.y, e.args.b.name))
probe(B + "shared", shared)
probe(B + "maybe", maybe)
probe(B + "boxes", boxes)
probe(B + "P::own", lambda e: print("own", e.args.self.x, e.args.self.name, e.args.k))
probe(B + "{number,text,list}", lambda e: print("all", e.args))
at_exit(lambda: print(n.items()))
`, "BIN", binary)), "-c", binary).ok(t)
	equalLines(t, lines(e.stdout), []string{
		"point 1 10 n1 2 n2", "number -5 7", "text own lent", "list (1, 2, 3) 3 2 2 b True", "maps 2",
		"cells 30 n4 5 60", "weak 40 n4", "shared 80 n8 0 True 0 True", "maybe 2 u 1 w 7 t 8 False False",
		"maybe <fault> <fault> <fault> <fault> <fault> None None True True", "boxes 2 5 6 boxed 2 8", "own 9 n9 k",
		`all record(a = -5, b = 7, s = "s")`, `all record(a = "own", b = "lent", s = "s")`,
		`all record(a = (1, 2, 3), b = <not shown>, s = "s")`, `[((1, "n1", 1), 1)]`})
}
