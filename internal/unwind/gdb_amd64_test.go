package unwind

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/test/need"
)

// A stopped process is one that was stopped anywhere, with its registers.
type stopped struct {
	mem   *os.File
	order binary.ByteOrder
	m     *settled
	table []byte
}

func (s *stopped) word(addr uint64) uint64 {
	b := make([]byte, 8)
	if _, err := s.mem.ReadAt(b, int64(addr)); err != nil {
		return 0
	}
	return s.order.Uint64(b)
}

// walk is that of programs, in Go.
func (s *stopped) walk(pc, sp, fp uint64) (pcs []uint64, end string) {
	for before := uint64(0); len(pcs) < 200; {
		pcs = append(pcs, pc)
		e, ok := entryIn(s.table, pc-before)
		if !ok {
			return pcs, "no mapping"
		}
		rule := uint32(wire.UnwindNone)
		if e.chunk != 0 {
			rule = ruleIn(s.m.memory[e.chunk*wire.UnwindChunk:], uint32(pc-before-e.base))
		}
		if known(rule) == wire.UnwindStop {
			return pcs, "reached"
		}
		before = 1
		if known(rule) == wire.UnwindSignal {
			const registers = 40   // of a struct ucontext
			pcs = pcs[:len(pcs)-1] // gdb has no address of it
			fp, pc = s.word(sp+registers+8*10), s.word(sp+registers+8*16)
			sp, before = s.word(sp+registers+8*15), 0
			continue
		}
		frame := s.frame(rule, pc, sp, fp)
		if frame <= sp {
			return pcs, "no progress"
		}
		switch saved := uint64(rule) >> wire.UnwindKindBits & (1<<wire.UnwindSavedBitsAMD64 - 1); saved {
		case 0:
		case wire.UnwindAtFrame:
			fp = s.word(fp)
		default:
			fp = s.word(frame - 8*saved)
		}
		if pc, sp = s.word(frame-8), frame; pc == 0 {
			return pcs, "reached"
		}
	}
	return pcs, "limit"
}

// frame is the canonical frame address.
func (s *stopped) frame(rule uint32, pc, sp, fp uint64) uint64 {
	operand := int64(int32(rule)) >> (wire.UnwindKindBits + wire.UnwindSavedBitsAMD64)
	at, more := 8*int64(int8(operand)), uint64(8*(operand>>8))
	switch known(rule) {
	case wire.UnwindSP:
		return sp + uint64(8*operand)
	case wire.UnwindFP:
		return fp + uint64(8*operand)
	case wire.UnwindFPMem:
		return s.word(fp+uint64(at)) + more
	case wire.UnwindSPMem:
		return s.word(sp+uint64(at)) + more
	case wire.UnwindStub:
		if int64(pc&15) >= operand {
			return sp + 16
		}
		return sp + 8
	}
	return 0
}

// The frames of programs without frame pointers, stopped anywhere, are those that gdb finds: in functions of the C
// library that call the program back, in handlers of signals, and in an interpreter.
func TestFramesOfDebugger(t *testing.T) {
	need.Program(t, "gdb")
	t.Run("C", func(t *testing.T) {
		compareStops(t, false, need.Built(t, "gcc -O2 -fomit-frame-pointer", "sorts.c", sortsSource))
	})
	t.Run("Python", func(t *testing.T) { compareStops(t, true, need.Program(t, "python3"), "-c", pythonSource) })
}

const sortsSource = `
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <unistd.h>
volatile long sink;
static char text[64];
static int order(const void *a, const void *b) {
	snprintf(text, sizeof text, "%d %d", *(int *)a, *(int *)b);
	return *(int *)a - *(int *)b;
}
static void sorts(int seed) {
	static int list[500];
	for (int i = 0; i < 500; i++)
		list[i] = seed = seed * 1103515245 + 12345;
	qsort(list, 500, sizeof *list, order);
	sink++;
}
static void handler(int sig) { sorts(sig); sink++; }
__attribute__((noinline, noclone)) int deep(int n) {
	if (n == 0) { kill(getpid(), SIGUSR1); sorts(n); return 1; }
	int m = deep(n - 1); sink++; return m + 1;
}
int main(void) {
	signal(SIGUSR1, handler);
	for (;;) sink += deep(20);
}
`

const pythonSource = `
import re, json, zlib
def f(n):
    if n: return f(n - 1)
    for i in range(300):
        json.dumps({"a": [1, 2.5, "x"] * 20}); re.match("(a|b)*c", "ababababc"); zlib.compress(b"xy" * 5000)
        sorted(range(2000), key = lambda x: -x)
while True: f(12)
`

// compareStops stops a command a few times.
func compareStops(t *testing.T, withDebug bool, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	frames := 0
	for range 4 {
		time.Sleep(200 * time.Millisecond) // so that it is somewhere else
		frames += compareFrames(t, cmd.Process.Pid, withDebug)
	}
	t.Logf("%d frames are equal", frames)
}

// compareFrames stops a process and gives how many of its frames were compared.
func compareFrames(t *testing.T, pid int, withDebug bool) int {
	t.Helper()
	m, k := settledTables(8, Options{})
	k.source = source
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var regs unix.PtraceRegs
	err := unix.PtraceAttach(pid)
	if err == nil {
		_, err = unix.Wait4(pid, nil, 0, nil)
	}
	if err == nil {
		err = unix.PtraceGetRegs(pid, &regs)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := fmt.Sprintf("/proc/%d", pid)
	k.Set(1, 0, mapped(t, dir))
	k.Await(time.Hour)
	mem, err := os.Open(dir + "/mem")
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	s := &stopped{mem, binary.NativeEndian, m, m.tables[m.shown[1]]}
	pcs, end := s.walk(regs.Rip, regs.Rsp, regs.Rbp)
	// It stays stopped for the debugger.
	if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(pid), 0, uintptr(unix.SIGSTOP), 0,
		0); errno != 0 {
		t.Fatal(errno)
	}
	defer func() { _ = unix.Kill(pid, unix.SIGCONT) }()
	return sameFrames(t, pid, pcs, end, withDebug)
}

// sameFrames compares the frames of a walk with those that gdb finds. Where it has debug information it has more:
// copies of functions that the compiler has put into others, at the same address, and functions that ended by a jump to
// the next one, which have no frame any more.
func sameFrames(t *testing.T, pid int, pcs []uint64, end string, withDebug bool) int {
	t.Helper()
	out, err := exec.Command("gdb", "-nx", "-batch", "-ex", "set backtrace past-main on", "-ex",
		"set backtrace past-entry on", "-ex", "set print frame-info location-and-address", "-ex", "bt", "-p",
		strconv.Itoa(pid)).CombinedOutput()
	if err != nil {
		t.Skipf("needs a debugger that can attach: %v\n%s", err, out)
	}
	var want []uint64
	for _, f := range regexp.MustCompile(`(?m)^#\d+ +0x([0-9a-f]+) in `).FindAllSubmatch(out, -1) {
		pc, err := strconv.ParseUint(string(f[1]), 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, pc)
	}
	want, pcs = slices.Compact(want), slices.Compact(pcs)
	at := 0
	want = slices.DeleteFunc(want, func(pc uint64) bool {
		if at < len(pcs) && pcs[at] == pc {
			at++
			return false
		}
		return withDebug
	})
	if len(want) < 5 || !slices.Equal(pcs, want) || end != "reached" {
		t.Errorf("the walk has\n%#x and ended: %s; the debugger has\n%#x\n%s", pcs, end, want, out)
	}
	return len(want)
}
