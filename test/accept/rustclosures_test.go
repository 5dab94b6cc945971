package accept

import (
	"slices"
	"strings"
	"testing"
)

// rustClosures has closures that capture variables by reference and by value, that give them away, that capture
// nothing, and parameters that patterns take apart.
const rustClosures = `
use std::hint::black_box;
pub struct P { x: u32, y: u64 }
fn by_ref() { let w = black_box(5u32); let f = |n: u32| black_box(n + w); f(10); }
fn by_value() { let w = black_box(5u32); let f = move |n: u64, s: &str| black_box(n as usize + s.len() + w as usize);
	f(11, "eleven"); }
fn changes() { let mut m = black_box(7i64); let mut f = |n: i64| { m += n; black_box(m); }; f(-12); }
fn field() { let p = P { x: 1, y: 2 }; let f = |n: u64| black_box(n + p.y + p.x as u64); f(13); }
fn boxed() { let w = black_box(5u32); let b: Box<dyn Fn(u32) -> u32> = Box::new(move |n| black_box(n + w)); b(14); }
fn patterns() { let w = black_box(5u32);
	let f = |(a, b): (u32, u32), _: u8, n: u32| black_box(a + b + n + w); f((1, 2), 3, 15); }
fn alone() { let f = |n: u32| black_box(n + 1); f(16); }
fn nested() { let w = black_box(5u32); let f = |n: u32| { let g = |k: u32| black_box(k + w); g(n + 1) }; f(17); }
fn once<F: FnOnce(u32) -> u32>(f: F) -> u32 { f(19) }
fn given() { let s = String::from("s"); once(move |n: u32| { let t = s; black_box(t.len() as u32 + n) }); }
fn main() { by_ref(); by_value(); changes(); field(); boxed(); patterns(); alone(); nested(); given(); }
`

// Arguments of closures of Rust stand behind what these capture, of which debug information does not tell. Where nobody
// knows how that is passed, they are optimized out.
//
// > Arguments of a closure are known, too, where it can be called again.
// > One that gives away what it captured (`FnOnce`) has `<optimized out>` in their place.
func TestArgumentsOfClosures(t *testing.T) {
	want := []string{"by_ref n = 10)", "by_value n = 11, s = \"eleven\")", "changes n = -12)", "field n = 13)",
		"boxed n = 14)", "patterns n = 15)", "alone n = 16)", "nested n = 17)", "nested k = 18)",
		"given n = <optimized out>)"}
	for _, level := range []string{"0", "2"} {
		got := printed(t, "rustc -g -Copt-level="+level, "cl.rs", rustClosures, `
probe("uprobe:BIN:cl::{by_ref,by_value,changes,field,boxed,patterns,alone,nested,given}::*",
      lambda e: print("|", e.func, e.args, "|"))
`)
		lines := closuresOf(got)
		if level == "0" && strings.Join(lines, "\n") != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
		}
		for _, line := range lines {
			unsaid := strings.HasSuffix(line, " )") || strings.Contains(line, "<optimized out>")
			if !unsaid && !slices.Contains(want, line) {
				t.Errorf("level %s: got %s", level, line)
			}
		}
	}
}

// closuresOf are the outer functions of closures with the arguments that these had.
func closuresOf(printed string) (lines []string) {
	for _, part := range strings.Split(printed, "| cl::")[1:] {
		name, rest, _ := strings.Cut(part, "::")
		_, args, _ := strings.Cut(rest, "record(")
		args, _, _ = strings.Cut(args, " |")
		lines = append(lines, name+" "+args)
	}
	return lines
}
