package accept

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// redZone is a program of which a function that calls nothing keeps values below its stack, around an instruction of
// five bytes that does nothing. It prints how often they were not what it had put there.
const redZone = `#include <stdio.h>
__attribute__((noinline)) long leaf(long a) {
	long r;
	__asm__ volatile("movq %1, -8(%%rsp)\n\tmovq %1, -16(%%rsp)\n\tmovq %1, -24(%%rsp)\n\tmovq %1, -32(%%rsp)\n"
		".globl here\nhere: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
		"movq -8(%%rsp), %0\n\taddq -16(%%rsp), %0\n\taddq -24(%%rsp), %0\n\taddq -32(%%rsp), %0"
		: "=&r"(r) : "r"(a) : "memory");
	return r;
}
int main(void) {
	long wrong = 0;
	for (int i = 0; i < 1000; i++) wrong += leaf(i) != 4L * i;
	printf("wrong=%ld\n", wrong);
}
`

// No probe changes what a program computes. At an instruction of five bytes that does nothing it would, from Linux 6.18
// on.
//
// > Within a function of amd64 no probe stands at an instruction of five bytes that does nothing.
// > Linux 6.18 replaces it by a call, which overwrites what the function keeps below its stack.
// > There a line, or a copy that was inlined, is probed beside it, and `uprobe:./app:work+16` is refused.
func TestRedZoneIsKept(t *testing.T) {
	needTracing(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("needs uprobes of amd64, which the kernel replaces by calls at such instructions: arm64 has no red zone")
	}
	binary := need.Built(t, "gcc -g -O2", "zone.c", redZone)
	e := startrace(t, "-q", "-e", `probe("uprobe:`+binary+`:here", lambda e: print("hit"))`, "-c", binary)
	if strings.Contains(e.stdout, "hit") && !strings.Contains(e.stdout, "wrong=0") {
		t.Errorf("by its name: %q %q", e.stdout, e.stderr)
	}
	place := ""
	for offset := 1; offset < 64 && place == ""; offset++ {
		at := binary + ":leaf+" + strconv.Itoa(offset)
		e := startrace(t, "-q", "-e", `probe("uprobe:`+at+`", lambda e: print("hit"))`, "-c", binary)
		switch {
		case strings.Contains(e.stderr, "an instruction of five bytes that does nothing"):
			place = e.stderr
		case e.status == 0 && !strings.Contains(e.stdout, "wrong=0\n"):
			t.Errorf("leaf+%d: %q", offset, e.stdout)
		}
	}
	if place == "" {
		t.Error("a probe stands there")
	}
}
