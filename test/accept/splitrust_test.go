package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// orderOfRust calls a function with types of Rust.
const orderOfRust = `
pub struct Order { id: u32, name: String, tags: Vec<u16>, opt: Option<i32> }
#[inline(never)] pub fn checkout(o: &Order, k: i32) -> i64 { std::hint::black_box(o); o.id as i64 + k as i64 }
fn main() {
    let o = Order { id: 7, name: "abc".to_string(), tags: vec![1, 2], opt: Some(-4) };
    for i in 0..2 { std::hint::black_box(checkout(&o, i)); }
}
`

// rustc puts units into files of their own, too, or into a package of them.
func TestSplitDebugInformationOfRust(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, split := range []string{"off", "packed", "unpacked"} {
		var binary string
		outer := t
		t.Run("build", func(t *testing.T) {
			t.Chdir(outer.TempDir()) // rustc puts the files there
			binary = need.Built(outer, "rustc -g -A warnings -C split-debuginfo="+split, "order.rs", orderOfRust)
		})
		text := `probe("ufunc:BIN:*checkout", lambda e: print(e.args.o.id, e.args.o.name, e.args.o.tags, e.args.o.opt,
    e.args.k, e.ret))`
		e := startrace(t, "-q", script(t, strings.ReplaceAll(text, "BIN", binary)), "-c", binary).ok(t)
		equalLines(t, lines(e.stdout), []string{"7 abc (1, 2) -4 0 7", "7 abc (1, 2) -4 1 8"})
	}
}
