package cfi_test

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/cfi"
	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/test/need"
)

// deep calls through frames of many kinds, a function of the C library and a handler of signals, and says there what
// its registers, its stack and its mappings are, and what the unwinder of the C library finds.
const deep = `#define _GNU_SOURCE
#include <alloca.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#define KEPT __attribute__((noinline, noclone))
#ifdef __x86_64__
#define LARGE 70000
#else
#define LARGE 8000
#endif
static void registers(ucontext_t *u) {
#ifdef __x86_64__
	greg_t *r = u->uc_mcontext.gregs;
	printf("registers %llx %llx %llx 0\n", r[REG_RIP], r[REG_RSP], r[REG_RBP]);
#else
	mcontext_t *m = &u->uc_mcontext;
	printf("registers %llx %llx %llx %llx\n", m->pc, m->sp, m->regs[29], m->regs[30]);
#endif
}
KEPT static void say(void) {
	ucontext_t u;
	void *list[64];
	char line[512];
	unsigned long from, to, *at = __builtin_frame_address(0);
	getcontext(&u);
	int n = backtrace(list, 64);
	registers(&u);
	for (int i = 0; i < n; i++) printf("frame %lx\n", (unsigned long)list[i]);
	FILE *f = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof line, f)) {
		printf("map %s", line);
		if (sscanf(line, "%lx-%lx", &from, &to) == 2 && (unsigned long)at >= from && (unsigned long)at < to)
#ifdef __x86_64__
			at = (unsigned long *)u.uc_mcontext.gregs[REG_RSP];
#else
			at = (unsigned long *)u.uc_mcontext.sp;
#endif
		else continue;
		for (; at < (unsigned long *)to; at++) if (*at) printf("word %lx %lx\n", (unsigned long)at, *at);
		at = 0;
	}
	fflush(stdout);
	_exit(0);
}
static void handler(int n) { say(); }
static int compare(const void *a, const void *b) { raise(SIGUSR1); return *(int *)a - *(int *)b; }
KEPT long varied(long n) {
	int *list = alloca(n * sizeof *list);
	for (long i = 0; i < n; i++) list[i] = i;
	qsort(list, n, sizeof *list, compare);
	return list[0];
}
KEPT long aligned(long n) {
	char s[256] __attribute__((aligned(128)));
	memset(s, n, sizeof s);
	long sum = varied(n);
	for (long i = 0; i < sizeof s; i++) sum += s[i];
	return sum;
}
KEPT long large(long n) {
	char s[LARGE];
	memset(s, n, sizeof s);
	long sum = aligned(n);
	for (long i = 0; i < sizeof s; i++) sum += s[i];
	return sum;
}
int main(int argc, char **argv) { signal(SIGUSR1, handler); return large(argc + 9) > 3; }
`

// A stack is what that program says.
type stack struct {
	t       *testing.T
	machine elf.Machine
	words   map[uint64]uint64
	maps    []mapping
	files   map[string]*elffile.File
	rows    map[string][]cfi.Row
	want    []uint64
	// The registers, and whether the pc is a return address.
	pc, sp, fp, lr uint64
	returned       bool
}

type mapping struct {
	from, to, offset uint64
	path             string
}

func parsedStack(t *testing.T, machine elf.Machine, text []byte) *stack {
	t.Helper()
	s := &stack{t: t, machine: machine, words: map[uint64]uint64{}, files: map[string]*elffile.File{},
		rows: map[string][]cfi.Row{}}
	for line := range strings.Lines(string(text)) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		var m mapping
		var a, b uint64
		var flags, device, inode string
		switch kind {
		case "registers":
			fmt.Sscanf(rest, "%x %x %x %x", &s.pc, &s.sp, &s.fp, &s.lr)
		case "frame":
			fmt.Sscanf(rest, "%x", &a)
			s.want = append(s.want, a)
		case "word":
			fmt.Sscanf(rest, "%x %x", &a, &b)
			s.words[a] = b
		case "map":
			fmt.Sscanf(rest, "%x-%x %s %x %s %s %s", &m.from, &m.to, &flags, &m.offset, &device, &inode, &m.path)
			s.maps = append(s.maps, m)
		}
	}
	return s
}

func (s *stack) mapping(addr uint64) mapping {
	i := slices.IndexFunc(s.maps, func(m mapping) bool { return m.from <= addr && addr < m.to })
	if i < 0 {
		return mapping{}
	}
	return s.maps[i]
}

// rule gives that of the instruction that runs, or of the one before the address that a call returns to.
func (s *stack) rule() uint32 {
	s.t.Helper()
	at := s.pc
	if s.returned {
		at--
	}
	if m := s.mapping(s.pc); m.from == s.pc && m.path == "" { // of an emulator's own, where handlers return to
		return wire.UnwindSignal
	}
	m := s.mapping(at)
	if !strings.HasPrefix(m.path, "/") {
		s.t.Fatalf("%#x is in no file", at)
	}
	f := s.files[m.path]
	if f == nil {
		f = opened(s.t, m.path)
		s.files[m.path] = f
		rows, err := cfi.Rows(f)
		if err != nil {
			s.t.Fatal(err)
		}
		s.rows[m.path] = rows
	}
	addr, ok := f.Addr(at - m.from + m.offset)
	if !ok {
		s.t.Fatalf("%#x is not loaded of %s", at, m.path)
	}
	return ruleAt(s.rows[m.path], addr)
}

// The places of registers in the frame of a signal, above the stack pointer: pc, stack pointer, frame pointer, and the
// link register of arm64.
var signalPlaces = map[elf.Machine][4]uint64{
	elf.EM_X86_64:  {40 + 8*16, 40 + 8*15, 40 + 8*10, 0},
	elf.EM_AARCH64: {312 + 8*32, 312 + 8*31, 312 + 8*29, 312 + 8*30},
}

// up goes to the caller by a rule; false where there is none.
func (s *stack) up(rule uint32) bool {
	c := cpus[s.machine]
	kind := rule & (1<<wire.UnwindKindBits - 1)
	saved := uint64(rule >> wire.UnwindKindBits & (1<<c.savedBits - 1))
	n := int64(int32(rule) >> (wire.UnwindKindBits + c.savedBits))
	words := uint64(8 * n)
	cfa := uint64(0)
	switch {
	case kind == wire.UnwindNone || kind == wire.UnwindStop:
		return false
	case kind == wire.UnwindSignal:
		p := signalPlaces[s.machine]
		sp := s.sp
		s.pc, s.sp, s.fp, s.lr = s.words[sp+p[0]], s.words[sp+p[1]], s.words[sp+p[2]], s.words[sp+p[3]]
		s.returned = false
		return true
	case kind == wire.UnwindSP || kind == wire.UnwindLinkOnly && s.machine == elf.EM_AARCH64:
		cfa = s.sp + words
	case kind == wire.UnwindFP:
		cfa = s.fp + words
	case kind == wire.UnwindStub:
		cfa = s.sp + 8
		if s.pc&15 >= uint64(n) {
			cfa += 8
		}
	case kind == wire.UnwindFPMem:
		cfa = s.words[s.fp+uint64(8*int64(int8(n)))] + uint64(8*(n>>8))
	case kind == wire.UnwindSPMem:
		cfa = s.words[s.sp+uint64(8*int64(int8(n)))] + uint64(8*(n>>8))
	}
	s.callerOf(kind, saved, cfa)
	return true
}

// callerOf sets the registers to those of the caller.
func (s *stack) callerOf(kind uint32, saved, cfa uint64) {
	below := cfa - 8*saved
	switch {
	case s.machine == elf.EM_AARCH64 && saved == 0:
		s.pc = s.lr
	case s.machine == elf.EM_AARCH64 && kind == wire.UnwindLinkOnly:
		s.pc = s.words[below]
	case s.machine == elf.EM_AARCH64 && saved == wire.UnwindAtStack:
		s.fp, s.pc = s.words[s.sp], s.words[s.sp+8]
	case s.machine == elf.EM_AARCH64:
		s.fp, s.pc = s.words[below], s.words[below+8]
	case saved == wire.UnwindAtFrame:
		s.fp, s.pc = s.words[s.fp], s.words[cfa-8]
	case saved == 0:
		s.pc = s.words[cfa-8]
	default:
		s.fp, s.pc = s.words[below], s.words[cfa-8]
	}
	s.sp, s.returned = cfa, true
	s.pc &= 1<<48 - 1 // of arm64, a signature lies above
}

// TestWalk walks along the stack of a program by the rows alone, and finds what the C library's unwinder finds.
func TestWalk(t *testing.T) {
	for _, command := range []string{"gcc -O2 -fomit-frame-pointer", "gcc -O0", "gcc -O2 -static", "clang -O2",
		"gcc -O2 -mstackrealign", "gcc -O2 -fno-asynchronous-unwind-tables -fexceptions",
		"aarch64-linux-gnu-gcc -O2 -static", "aarch64-linux-gnu-gcc -O0 -static",
		"aarch64-linux-gnu-gcc -O2 -static -fomit-frame-pointer", "aarch64-linux-gnu-gcc -O2",
		"aarch64-linux-gnu-gcc -O2 -mbranch-protection=standard"} {
		t.Run(command, func(t *testing.T) {
			run := []string{need.Built(t, command, "deep.c", deep)}
			machine := opened(t, run[0]).Machine
			if strings.HasPrefix(command, "aarch64") {
				run = []string{need.Program(t, "qemu-aarch64-static"), "-L",
					"/usr/aarch64-linux-gnu", run[0]}
			}
			var said, complaint bytes.Buffer
			c := exec.Command(run[0], run[1:]...)
			c.Stdout, c.Stderr = &said, &complaint
			if err := c.Run(); err != nil {
				t.Fatalf("%v: %v, %s", run, err, complaint.Bytes())
			}
			s := parsedStack(t, machine, said.Bytes())
			var got []uint64
			for len(got) < 100 {
				got = append(got, s.pc)
				if !s.up(s.rule()) {
					break
				}
			}
			// The first one is another place in the same function.
			if len(got) < 8 || len(s.want) != len(got) || !slices.Equal(got[1:], s.want[1:]) {
				t.Errorf("got %x, want %x", got, s.want)
			}
		})
	}
}
