package places

// The assembly that notes registers around a call.

const harness = `
enum small { no, yes };
enum unsigned_long { most = ~0ul }; enum negative { under = -1, over = 1 };
typedef unsigned int word_t; typedef void *pointer_t; typedef const char *text_t;
typedef long aligned_t __attribute__((aligned(16)));
typedef float floats_t __attribute__((vector_size(16))); typedef int ints_t __attribute__((vector_size(16)));
typedef short half_t __attribute__((vector_size(8)));
#ifdef __aarch64__
#define LONG_DOUBLE 16
#else
#define LONG_DOUBLE 10
#endif
void *target;
static void join(unsigned char *m, const void *p, unsigned long n) {
	const unsigned char *b = p; for (unsigned long i = 0; i < n; i++) m[i] |= b[i]; }
static void near(unsigned char *p) { if (p > sp - 4096 && p < sp + 65536) hex(p, 1024); else printf("- "); }
static void dump(void) { hex(ints, sizeof ints); hex(floats, sizeof floats); hex(stack, sizeof stack);
	for (int i = 0; i < 8; i++) near((unsigned char *)ints[i]);
	for (int i = 0; i < 32; i++) { unsigned char *p; memcpy(&p, stack + 8 * i, 8); near(p); } }
static void entry(void) { dump(); }
static void leaving(void) { dump(); }
void through(void);
`

// throughs call target and note the registers behind the call.
var throughs = map[string]string{
	"amd64": `
asm(".globl through\nthrough: mov %rsp, sp(%rip)\nsub $8, %rsp\ncall *target(%rip)\nadd $8, %rsp\n"
"mov %rax, ints(%rip)\nmov %rdx, ints+8(%rip)\nmovups %xmm0, floats(%rip)\nmovups %xmm1, floats+16(%rip)\nret\n");
`,
	"arm64": `
asm(".globl through\nthrough: mov x10, sp\nadrp x9, sp\nadd x9, x9, :lo12:sp\nstr x10, [x9]\nstp x29, x30, [sp, -16]!\n"
"adrp x9, target\nldr x9, [x9, :lo12:target]\nblr x9\nadrp x9, ints\nadd x9, x9, :lo12:ints\nstp x0, x1, [x9]\n"
"adrp x9, floats\nadd x9, x9, :lo12:floats\nstp q0, q1, [x9]\nstp q2, q3, [x9, 32]\nldp x29, x30, [sp], 16\nret\n");
`,
}
