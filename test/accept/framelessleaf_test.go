package accept

import "testing"

// frameless is a program whose innermost function makes no frame, without rules for its frames.
const frameless = `#include <sys/syscall.h>
__attribute__((noinline)) long inner(int k) {
	long r;
	asm volatile("syscall" : "=a"(r) : "a"(SYS_getppid) : "rcx", "r11", "memory");
	return r + k;
}
__attribute__((noinline)) long middle(int k) {
	long r = inner(k);
	asm volatile("" : "+r"(r));
	return r;
}
__attribute__((noinline)) long outer(int k) {
	long r = middle(k);
	asm volatile("" : "+r"(r));
	return r;
}
int main(void) { return outer(1) < 0; }
`

// A stack that is unwound by frame pointers lacks the caller of a function without a frame; rules have it.
//
// > By frame pointers the caller of an innermost function that makes no frame of its own is left out: of
// > main → outer → middle → inner it shows main, outer and inner.
func TestFramelessLeaf(t *testing.T) {
	const probes = `
named = ["inner", "middle", "outer", "main"]
def seen(e):
    print([f.name for f in e.ustack() if f.name in named])
probe("tracepoint:syscalls:sys_enter_getppid", seen)
`
	const pointers = "gcc -O2 -fno-omit-frame-pointer"
	for command, want := range map[string]string{
		pointers: `["inner", "middle", "outer", "main"]`,
		pointers + " -fno-asynchronous-unwind-tables -fno-unwind-tables": `["inner", "outer", "main"]`,
	} {
		if got := printed(t, command, "frameless.c", frameless, probes); got != want {
			t.Errorf("%s: got %s, want %s", command, got, want)
		}
	}
}
