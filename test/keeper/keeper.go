// Package keeper is C by which programs of tests tell where the arguments of a call are: a function keep() that notes
// the registers and the stack as they are at its first instruction, and what fills and prints bytes.
package keeper

import (
	"strconv"
	"strings"
)

// The function keep() of C, which notes the registers and the stack.

// C is the text for an architecture; so many bytes of the stack are noted. ints, floats, sp and stack have what
// keep() found.
func C(arch string, stack int) string {
	return strings.ReplaceAll(variables+keepers[arch], "STACK", strconv.Itoa(stack))
}

const variables = `
#include <stdio.h>
#include <string.h>
unsigned long ints[8], floats[16]; unsigned char *sp; unsigned char stack[STACK];
static void fill(void *p, unsigned long n, int j) {
	unsigned char *b = p; for (unsigned long i = 0; i < n; i++) b[i] = j * 37 + i * 3 + 1; }
static void hex(const void *p, int n) {
	const unsigned char *b = p; for (int i = 0; i < n; i++) printf("%02x", b[i]); printf(n ? " " : "- "); }
void keep(void);
`

var keepers = map[string]string{
	"amd64": `
asm(".globl keep\nkeep: mov %rdi, ints(%rip)\nmov %rsi, ints+8(%rip)\nmov %rdx, ints+16(%rip)\n"
"mov %rcx, ints+24(%rip)\n"
"mov %r8, ints+32(%rip)\nmov %r9, ints+40(%rip)\nmovups %xmm0, floats(%rip)\nmovups %xmm1, floats+16(%rip)\n"
"movups %xmm2, floats+32(%rip)\nmovups %xmm3, floats+48(%rip)\nmovups %xmm4, floats+64(%rip)\n"
"movups %xmm5, floats+80(%rip)\n"
"movups %xmm6, floats+96(%rip)\nmovups %xmm7, floats+112(%rip)\nmov %rsp, sp(%rip)\nmov %rdi, %rax\n"
"xor %ecx, %ecx\n1: mov (%rsp,%rcx), %dl\nlea stack(%rip), %rsi\nmov %dl, (%rsi,%rcx)\ninc %ecx\n"
"cmp $STACK, %ecx\njb 1b\n"
"fninit\nfldz\nret\n");
`,
	"arm64": `
asm(".globl keep\nkeep: adrp x9, ints\nadd x9, x9, :lo12:ints\nstp x0, x1, [x9]\nstp x2, x3, [x9, 16]\n"
"stp x4, x5, [x9, 32]\nstp x6, x7, [x9, 48]\n"
"adrp x9, floats\nadd x9, x9, :lo12:floats\nstp q0, q1, [x9]\nstp q2, q3, [x9, 32]\n"
"stp q4, q5, [x9, 64]\nstp q6, q7, [x9, 96]\n"
"mov x10, sp\nadrp x9, sp\nadd x9, x9, :lo12:sp\nstr x10, [x9]\nadrp x9, stack\nadd x9, x9, :lo12:stack\nmov x11, 0\n"
"1: ldrb w12, [x10, x11]\nstrb w12, [x9, x11]\nadd x11, x11, 1\ncmp x11, STACK\nb.lo 1b\nret\n");
`,
}
