package accept

import (
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// optionsOfEnums hands over Options of what has several parts, in memory and in registers.
const optionsOfEnums = `#![allow(dead_code)]
use std::hint::black_box;
use std::time::Duration;
#[derive(Clone, Copy)] pub enum Small { A(u8), B(u16), C, D }
#[derive(Clone, Copy)] pub enum Plain { X, Y, Z }
#[derive(Clone)] pub enum Deep { In(Plain), Pair { w: u32, h: i64 }, Text(String), Nothing }
pub struct All { n: u32, small: Option<Small>, deep: Option<Deep>, nested: Option<Result<Option<u8>, Plain>> }
#[no_mangle] #[inline(never)] pub extern "C" fn see(a: &All) -> u32 { black_box(a).n }
#[inline(never)] pub fn small(s: Option<Small>, n: u32) -> u32 { black_box(&s); n }
#[inline(never)] pub fn after(d: Option<Duration>, n: u32) -> u32 { black_box(&d); n }
fn main() {
    for n in 0..5u32 {
        let s = match n {
            0 => None, 1 => Some(Small::A(7)), 2 => Some(Small::B(700)), 3 => Some(Small::C), _ => Some(Small::D),
        };
        let deep = match n {
            0 => None, 1 => Some(Deep::In(Plain::Z)), 2 => Some(Deep::Pair { w: 3, h: -4 }),
            3 => Some(Deep::Text("deep".into())), _ => Some(Deep::Nothing),
        };
        let nested = match n {
            0 => None, 1 => Some(Ok(Some(5))), 2 => Some(Ok(None)), 3 => Some(Err(Plain::Y)), _ => Some(Ok(Some(0))),
        };
        see(black_box(&All { n, small: s, deep, nested }));
        black_box(small as fn(Option<Small>, u32) -> u32)(s, n);
        black_box(after as fn(Option<Duration>, u32) -> u32)((n > 0).then(|| Duration::new(n as u64, 5)), n);
    }
}
`

// Both halves see of an Option of an enum which variant it is, whether it lies in memory or in registers, and take the
// parts of what an Option holds behind a test for None, of a variable or not.
func TestOptionsOfEnumsOfRust(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	small := []string{"0 None", "1 A 7 None", "2 B None 700", "3 C None None", "4 D None None"}
	want := map[string][]string{
		"user": small, "kernel": small, "reguser": small, "regkernel": small,
		"whole": {"0 None", `1 record(variant = "A", A = 7, B = None)`, `2 record(variant = "B", A = None, B = 700)`,
			`3 record(variant = "C", A = None, B = None)`, `4 record(variant = "D", A = None, B = None)`},
		"regwhole": {"0 None", `1 record(variant = "A", A = 7, B = None)`, `2 record(variant = "B", A = None, B = 700)`,
			`3 record(variant = "C", A = None, B = None)`, `4 record(variant = "D", A = None, B = None)`},
		"deep": {"0 None", "1 In 2 None None", "2 Pair None 3 -4 None", "3 Text None None deep",
			"4 Nothing None None None"},
		"nested": {"0 None", "1 Ok 5 None", "2 Ok None None", "3 Err None 1", "4 Ok 0 None"},
		"where":  {"3"}, "regwhere": {"3"}, "untested": {"0 <fault>", "1 A", "2 B", "3 C", "4 D"},
		"after": {"0 None", "1 1", "2 2", "3 3", "4 4"}, "secs": {"0 0", "1 1", "2 2", "3 3", "4 4"},
		"kafter": {"0 None", "1 1", "2 2", "3 3", "4 4"}, "late": {"3", "4"},
	}
	passed := map[string]bool{"reguser": true, "regkernel": true, "regwhole": true, "regwhere": true, "after": true,
		"secs": true, "kafter": true, "late": true}
	for _, level := range []string{"0", "2"} {
		binary := need.Built(t, "rustc -g -C opt-level="+level, "opts.rs", optionsOfEnums)
		text := scriptOfOptions
		if level == "0" {
			text += scriptOfPassedOptions // with optimization the compiler passes them in its own way
		}
		e := startrace(t, "-q", script(t, strings.ReplaceAll(text, "BIN", binary)), "-c", binary).ok(t)
		said := byFirstWord(e.stdout)
		for what, list := range want {
			if level != "0" && passed[what] {
				continue
			}
			t.Run(level+"/"+what, func(t *testing.T) { equalLines(t, said[what], slices.Clone(list)) })
		}
	}
}

const scriptOfOptions = `
seen = table()
def user(e):
    s = e.args.a.small
    if s != None:
        print("user", e.args.a.n, s.variant, s.A, s.B)
    else:
        print("user", e.args.a.n, None)
def deep(e):
    d = e.args.a.deep
    if d == None:
        print("deep", e.args.a.n, None)
    elif d.Pair != None:
        print("deep", e.args.a.n, d.variant, d.In, d.Pair.w, d.Pair.h, d.Text)
    else:
        print("deep", e.args.a.n, d.variant, d.In, None, d.Text)
def nested(e):
    r = e.args.a.nested
    print("nested", e.args.a.n, *((r.variant, r.Ok, r.Err) if r != None else (None,)))
def kernel(e):
    s = e.args.a.small
    if s != None:
        seen[e.args.a.n] = (s.variant, s.A, s.B)
def end():
    for n in range(5):
        print("kernel", n, *(seen[n] if n in seen else (None,)))
probe("uprobe:BIN:see", user)
probe("uprobe:BIN:see", deep)
probe("uprobe:BIN:see", nested)
probe("uprobe:BIN:see", kernel = kernel)
probe("uprobe:BIN:see", lambda e: print("whole", e.args.a.n, e.args.a.small))
probe("uprobe:BIN:see", lambda e: print("untested", e.args.a.n, e.args.a.small.variant))
probe("uprobe:BIN:see", lambda e: print("where", e.args.a.n),
      where = lambda e: e.args.a.small != None and e.args.a.small.variant == "C")
at_exit(end)
`

const scriptOfPassedOptions = `
regs = table()
times = table()
def reguser(e):
    s = e.args.s
    if s == None:
        print("reguser", e.args.n, None)
        return
    print("reguser", e.args.n, s.variant, s.A, s.B)
def after(e):
    d = e.args.d
    if d != None:
        print("after", e.args.n, d.secs)
    else:
        print("after", e.args.n, d)
def regkernel(e):
    s = e.args.s
    if s != None:
        regs[e.args.n] = (s.variant, s.A, s.B)
def kafter(e):
    d = e.args.d
    if d != None:
        times[e.args.n] = (d.secs,)
def passed():
    for n in range(5):
        print("regkernel", n, *(regs[n] if n in regs else (None,)))
        print("kafter", n, *(times[n] if n in times else (None,)))
at_exit(passed)
probe("uprobe:BIN:opts::small", reguser)
probe("uprobe:BIN:opts::small", kernel = regkernel)
probe("uprobe:BIN:opts::small", lambda e: print("regwhole", e.args.n, e.args.s))
probe("uprobe:BIN:opts::small", lambda e: print("regwhere", e.args.n), where = lambda e: e.args.s.variant == "C")
probe("uprobe:BIN:opts::after", after)
probe("uprobe:BIN:opts::after", kernel = kafter)
probe("uprobe:BIN:opts::after", lambda e: print("secs", e.args.n, e.args.d.secs if e.args.d != None else 0))
probe("uprobe:BIN:opts::after", lambda e: print("late", e.args.n), where = lambda e: e.args.d.secs > 2)
`
