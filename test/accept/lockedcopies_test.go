package accept

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// lockedCopies has functions that are inlined and begin with an instruction with the prefix lock, of which one has a
// match, to whose arms a table leads.
const lockedCopies = `use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::hint::black_box;
static C: [AtomicU64; 3] = [AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0)];
#[inline(always)]
fn fa(a: i64) -> i64 { C[0].fetch_add(1, Relaxed); let mut r = 0; let mut a = a;
    while a > 0 { r += black_box(a); a -= 3; } r }
#[inline(always)]
fn fb(a: i64) -> i64 { C[1].fetch_add(1, Relaxed);
    match black_box(a) & 3 { 0 => a, 1 => fa(a), 2 => black_box(7), _ => a * 3 } }
#[inline]
fn fc(a: i64) -> i64 { C[2].fetch_add(1, Relaxed); if a < 3 { return 1; } fa(a - 1) + fb(a - 2) }
#[inline(never)]
fn body(a: i64) -> i64 { let mut r = 0; for i in 0..a { r += fb(i); if i & 1 == 1 { r += fc(i); } } r }
fn main() {
    for i in 1..20 { black_box(body(i)); }
    println!("fc {}", C[2].load(Relaxed));
}
`

// A copy of a function that begins with an instruction that the kernel cannot probe is probed at the next one that
// always runs with it, and not at an arm of a match in it, to which a table leads.
func TestCopiesThatBeginLocked(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	if runtime.GOARCH != "amd64" {
		t.Skip("needs amd64, which has the prefix lock")
	}
	binary := need.Built(t, "rustc -g -C opt-level=1", "locked.rs", lockedCopies)
	e := startrace(t, "-q", "-e", "n = count()", "-e", fmt.Sprintf(
		`probe("uprobe:%s:locked::fc", lambda e: n.add())`, binary), "-c", binary).ok(t)
	equalLines(t, lines(strings.TrimSpace(e.stdout)), []string{"fc 90", "n: 90"})
}
