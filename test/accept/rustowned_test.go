package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// What a function of Rust owns is known of its start, with what it leads to.
//
// > A function of Rust drops at its end what it owns, so that `e.args.name` of a `name: String` is memory that was
// > freed: `e.start.args.name` is the string.
func TestOwnedByRust(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "rustc -g", "main.rs", `#[inline(never)]
fn take(name: String, list: Vec<u16>) -> usize { name.len() + list.len() }
fn main() {
    let n = std::env::args().count();
    println!("{}", take(String::from(["", "a name of some length"][n]), vec![7, n as u16]));
}
`)
	e := startrace(t, "-q", script(t, `
def took(e):
    print("took", e.start.args.name, e.start.args.list[0], e.start.args.list[1])
probe("ufunc:`+binary+`:main::take", took)
`), "-c", binary).ok(t)
	if !strings.Contains(e.stdout, "took a name of some length 7 1\n") {
		t.Errorf("%s%s", e.stdout, e.stderr)
	}
}
