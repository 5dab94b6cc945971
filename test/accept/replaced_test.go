package accept

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/kernel"
)

// A start that takes the place of another one is no loss: the other one is, if it is of a process that is traced,
// whichever process replaced it.
func TestReplacedStarts(t *testing.T) {
	needTracing(t)
	r := start(t, script(t, `
key = (lambda e: e.args.offset if e.args.offset > 777000 else None, lambda e: e.args.length)
probe(span("t:syscalls:sys_enter_lseek", "t:syscalls:sys_enter_ftruncate", key = key), lambda e: print("never"))
`+attached), "-p", fmt.Sprint(os.Getpid()))
	r.await(t, "attached")
	own := func(offset int64) {
		if _, err := unix.Seek(-1, offset, 0); !errors.Is(err, unix.EBADF) {
			t.Errorf("seek in no file: %v", err)
		}
	}
	seek, _ := kernel.SyscallByName("lseek")
	other := func(offset int64) {
		if out, err := exec.Command(program(t, "workload"), "raw",
			fmt.Sprintf("%d,ffffffff,%x", seek.Nr, offset)).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
	other(777001)
	own(777001)
	for _, offset := range []int64{777002, 777005, 777006} {
		own(offset)
		other(offset) // replaces one of this process
	}
	own(777003)
	own(777003) // so does this
	other(777004)
	other(777004)
	e := r.interrupt(t).ok(t)
	n := number(t, e.stderr, `(\d+) calls? of .* never ended: another one began before`)
	if n != 4 && e.skipped(t) == 0 {
		t.Errorf("%d starts are said to have been replaced, want 4\nstderr: %s", n, e.stderr)
	}
}
