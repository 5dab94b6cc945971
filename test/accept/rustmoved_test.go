package accept

import (
	"strings"
	"testing"
)

// rustMoved has functions that only move an argument on, of types that C cannot have.
const rustMoved = `
use std::hint::black_box;
#[inline(never)] pub fn same(s: String) -> String { s }
#[inline(never)] pub fn fine(s: String) -> Result<String, i32> { Ok(s) }
#[inline(never)] pub fn some(s: String) -> Option<String> { Some(s) }
#[inline(never)] pub fn turned(t: (String, i32)) -> (i32, String) { (t.1, t.0) }
fn main() {
	black_box(same("one".into()));
	black_box(fine("two".into()).is_ok());
	black_box(some("three".into()));
	black_box(turned(("four".into(), 4)));
}
`

// Functions of Rust that move an argument on are known without optimization. With it they are known, or optimized out.
func TestMovedOnOfRust(t *testing.T) {
	truth := map[string]string{
		"moved::same": `s = "one") one`, "moved::fine": `s = "two") record(variant = "Ok", Ok = "two", Err = None)`,
		"moved::some": `s = "three") three`, "moved::turned": `t = ("four", 4)) (4, "four")`,
	}
	for _, level := range []string{"0", "1"} {
		got := printed(t, "rustc -g -Copt-level="+level, "moved.rs", rustMoved, `
probe("ufunc:BIN:moved::{same,fine,some,turned}", lambda e: print("|", e.func, e.start.args, e.ret, "|"))
`)
		for name, is := range truth {
			_, line, found := strings.Cut(got, "| "+name+" record(")
			line, _, _ = strings.Cut(line, " |")
			if found && line != is && (level == "0" || !strings.Contains(line, "<optimized out>")) ||
				!found && level == "0" {
				t.Errorf("level %s: %s: got %s, want %s", level, name, line, is)
			}
		}
	}
}
