package accept

import (
	"testing"

	"github.com/startrace/startrace/test/need"
)

const resultsBehindAddresses = `use std::hint::black_box;
#[inline(never)] pub fn text(q: u16, s: String, keep: &'static [i64; 4]) -> Result<(), String> {
    black_box(keep);
    if q > 5 { Err(s) } else { Ok(()) }
}
#[inline(never)] pub fn numbers(q: i64, keep: &'static [i64; 4]) -> (i64, i64, i64) { black_box(keep); (q, 2, 3) }
#[inline(never)] pub fn word(q: i64, keep: &'static [i64; 4]) -> i64 { black_box(keep); q + 1 }
static K: [i64; 4] = [1, 2, 3, 4];
fn main() {
    let n = std::env::args().count() as u16;
    let _ = black_box(text(13 + n, "n".into(), &K));
    let _ = black_box(text(3 + n, "o".into(), &K));
    black_box(numbers(n as i64, &K));
    black_box(word(n as i64, &K));
}
`

// LLVM does not always leave the address of a result in a register where a function is private: such a result of
// optimized Rust is FAULT, and never what another value leads to. Without optimization it is known.
func TestDroppedAddressOfResult(t *testing.T) {
	needTracing(t)
	for command, want := range map[string]string{
		"rustc -g":    "Err False\nOk False\n1 False\n2\n",
		"rustc -g -O": "<optimized out> True\n<optimized out> True\n<optimized out> True\n2\n",
	} {
		binary := need.Built(t, command, "dropped.rs", resultsBehindAddresses)
		e := startrace(t, "-q",
			"-e", `probe("uretprobe:`+binary+`:dropped::text", lambda e: print(e.ret.variant, e.ret.variant == FAULT))`,
			"-e", `probe("ufunc:`+binary+`:dropped::numbers", lambda e: print(e.ret[0], e.ret[0] == FAULT))`,
			"-e", `probe("uretprobe:`+binary+`:dropped::word", lambda e: print(e.ret))`, "-c", binary).ok(t)
		if e.stdout != want {
			t.Errorf("%s: got\n%s\nwant\n%s", command, e.stdout, want)
		}
	}
}
