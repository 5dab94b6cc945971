package places

const harness = `
#include <stdio.h>
#include <string.h>
enum small { no, yes };
enum unsigned_long { most = ~0ul }; enum negative { under = -1, over = 1 };
typedef unsigned int word_t; typedef void *pointer_t; typedef const char *text_t;
#ifdef __aarch64__
#define LONG_DOUBLE 16
#else
#define LONG_DOUBLE 10
#endif
unsigned long ints[8], floats[16]; unsigned char *sp; unsigned char stack[2048]; void *target;
static void fill(void *p, unsigned long n, int j) {
	unsigned char *b = p; for (unsigned long i = 0; i < n; i++) b[i] = j * 37 + i * 3 + 1; }
static void join(unsigned char *m, const void *p, unsigned long n) {
	const unsigned char *b = p; for (unsigned long i = 0; i < n; i++) m[i] |= b[i]; }
static void hex(const void *p, int n) {
	const unsigned char *b = p; for (int i = 0; i < n; i++) printf("%02x", b[i]); printf(n ? " " : "- "); }
static void near(unsigned char *p) { if (p > sp - 4096 && p < sp + 65536) hex(p, 1024); else printf("- "); }
static void dump(void) { hex(ints, sizeof ints); hex(floats, sizeof floats); hex(stack, sizeof stack);
	for (int i = 0; i < 8; i++) near((unsigned char *)ints[i]);
	for (int i = 0; i < 32; i++) { unsigned char *p; memcpy(&p, stack + 8 * i, 8); near(p); } }
static void entry(void) { dump(); }
static void leaving(void) { dump(); }
void keep(void); void through(void);
`

// keepers note the registers and the stack as they are at the first instruction, and behind a call.
var keepers = map[string]string{
	"amd64": `
asm(".globl keep\nkeep: mov %rdi, ints(%rip)\nmov %rsi, ints+8(%rip)\nmov %rdx, ints+16(%rip)\n"
"mov %rcx, ints+24(%rip)\n"
"mov %r8, ints+32(%rip)\nmov %r9, ints+40(%rip)\nmovups %xmm0, floats(%rip)\nmovups %xmm1, floats+16(%rip)\n"
"movups %xmm2, floats+32(%rip)\nmovups %xmm3, floats+48(%rip)\nmovups %xmm4, floats+64(%rip)\n"
"movups %xmm5, floats+80(%rip)\n"
"movups %xmm6, floats+96(%rip)\nmovups %xmm7, floats+112(%rip)\nmov %rsp, sp(%rip)\nmov %rdi, %rax\n"
"xor %ecx, %ecx\n1: mov (%rsp,%rcx), %dl\nlea stack(%rip), %rsi\nmov %dl, (%rsi,%rcx)\ninc %ecx\n"
"cmp $2048, %ecx\njb 1b\n"
"fninit\nfldz\nret\n"
".globl through\nthrough: mov %rsp, sp(%rip)\nsub $8, %rsp\ncall *target(%rip)\nadd $8, %rsp\n"
"mov %rax, ints(%rip)\nmov %rdx, ints+8(%rip)\nmovups %xmm0, floats(%rip)\nmovups %xmm1, floats+16(%rip)\nret\n");
`,
	"arm64": `
asm(".globl keep\nkeep: adrp x9, ints\nadd x9, x9, :lo12:ints\nstp x0, x1, [x9]\nstp x2, x3, [x9, 16]\n"
"stp x4, x5, [x9, 32]\nstp x6, x7, [x9, 48]\n"
"adrp x9, floats\nadd x9, x9, :lo12:floats\nstp q0, q1, [x9]\nstp q2, q3, [x9, 32]\n"
"stp q4, q5, [x9, 64]\nstp q6, q7, [x9, 96]\n"
"mov x10, sp\nadrp x9, sp\nadd x9, x9, :lo12:sp\nstr x10, [x9]\nadrp x9, stack\nadd x9, x9, :lo12:stack\nmov x11, 0\n"
"1: ldrb w12, [x10, x11]\nstrb w12, [x9, x11]\nadd x11, x11, 1\ncmp x11, 2048\nb.lo 1b\nret\n"
".globl through\nthrough: mov x10, sp\nadrp x9, sp\nadd x9, x9, :lo12:sp\nstr x10, [x9]\nstp x29, x30, [sp, -16]!\n"
"adrp x9, target\nldr x9, [x9, :lo12:target]\nblr x9\nadrp x9, ints\nadd x9, x9, :lo12:ints\nstp x0, x1, [x9]\n"
"adrp x9, floats\nadd x9, x9, :lo12:floats\nstp q0, q1, [x9]\nstp q2, q3, [x9, 32]\nldp x29, x30, [sp], 16\nret\n");
`,
}
