package accept

import (
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// unfollowed calls functions whose frames begin where registers say that calls keep, and by a word of a word.
const unfollowed = `#include <unistd.h>
void byRBX(void), byWord(void);
__attribute__((noinline)) void inner(void) { getppid(); asm volatile(""); }
__asm__(".globl byRBX, byWord\n.type byRBX, @function\n.type byWord, @function\n"
	"byRBX: .cfi_startproc\n push %rbx\n .cfi_def_cfa_offset 16\n .cfi_offset %rbx, -16\n mov %rsp, %rbx\n"
	" .cfi_def_cfa_register %rbx\n sub $64, %rsp\n xor %ebp, %ebp\n call inner\n mov %rbx, %rsp\n"
	" .cfi_def_cfa_register %rsp\n pop %rbx\n .cfi_def_cfa_offset 8\n ret\n .cfi_endproc\n.size byRBX, .-byRBX\n"
	"byWord: .cfi_startproc\n lea 8(%rsp), %rax\n push %rax\n .cfi_def_cfa_offset 16\n push %rsp\n"
	" .cfi_escape 0x0f, 0x04, 0x77, 0x00, 0x06, 0x06\n sub $56, %rsp\n"
	" .cfi_escape 0x0f, 0x04, 0x77, 0x38, 0x06, 0x06\n xor %ebp, %ebp\n call inner\n add $72, %rsp\n"
	" .cfi_def_cfa %rsp, 8\n ret\n .cfi_endproc\n.size byWord, .-byWord\n");
int main(void) {

	byRBX();
	byWord();
	_exit(0);
}
`

// A stack through code of which the tables tell in a way that walks do not follow says so.
//
// > Rules that count from the stack pointer, the frame pointer or a word in memory beside these are followed, as
// > compilers write them.
// > Those that count from another register, as `.cfi_def_cfa_register %rbx` of assembly, are followed in the innermost
// > function only.
// > A stack that needs any other ends there with the reason `code whose rule is one that startrace does not follow`.
func TestStackByUnfollowedRule(t *testing.T) {
	needTracing(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("needs amd64, of whose assembly the program is")
	}
	text := script(t, "n = count()\nprobe(\"tracepoint:syscalls:sys_enter_getppid\", "+
		"kernel = lambda e: n[e.ustack()].add())\n")
	bin := need.Built(t, "gcc -O2 -fno-inline", "unfollowed.c", unfollowed)
	e := startrace(t, text, "-c", bin).ok(t)
	const why = "code whose rule is one that startrace does not follow"
	for _, function := range []string{"byRBX", "byWord"} {
		ends := regexp.MustCompile(`    ` + function + `\S* \(unfollowed\)\n` +
			`    … not followed further: ` + why + `\n\]: 1`)
		if !ends.MatchString(e.stdout) {
			t.Errorf("%s: got\n%s", function, e.stdout)
		}
	}
	if want := "2 of 2 stacks of " + bin + " do not reach its beginning: " + why; !strings.Contains(e.stderr, want) {
		t.Errorf("said %q, want %q", e.stderr, want)
	}
}
