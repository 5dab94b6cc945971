// Static probes as <sys/sdt.h> makes them (it need not be installed), with arguments in all forms of operands:
// static N calls each of them N times and prints how often the guarded one was enabled.
#include <stdio.h>
#include <stdlib.h>

#define NOTE(semaphore, provider, name, args) \
	"990: nop\n.pushsection .note.stapsdt,\"?\",\"note\"\n.balign 4\n.4byte 992f-991f, 994f-993f, 3\n" \
	"991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b\n.8byte _.stapsdt.base\n.8byte " semaphore "\n" \
	".asciz \"" provider "\"\n.asciz \"" name "\"\n.asciz \"" args "\"\n994: .balign 4\n.popsection\n" \
	".ifndef _.stapsdt.base\n.pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n.weak _.stapsdt.base\n.hidden _.stapsdt.base\n" \
	"_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n.popsection\n.endif\n"

#define PROBED __attribute__((noinline, noipa))

unsigned short work_guarded_semaphore __attribute__((used, section(".probes")));

struct pair { int left, right; };

static volatile struct pair pairs[8];

static inline __attribute__((always_inline)) void inlined(int value)
{
	__asm__ volatile(NOTE("0", "work", "inlined", "-4@%0") :: "nor"(value));
}

// forms has an argument of each form: a constant, registers of all sizes, memory with displacement and with an index.
PROBED void forms(long a, int b, short c, signed char d, unsigned char e, const char *text, long i)
{
	pairs[i & 7].right = b;
#ifdef __x86_64__
	__asm__ volatile(NOTE("0", "work", "forms", "-4@$-17 8@%0 -4@%k1 -2@%w2 -1@%b3 1@%b4 8@%5 -4@4(%6,%7,8)")
		:: "r"(a), "r"(b), "r"(c), "q"(d), "q"(e), "r"(text), "r"(pairs), "r"(i & 7));
#else
	__asm__ volatile(NOTE("0", "work", "forms", "-4@-17 8@%x0 -4@%w1 -2@%w2 -1@%w3 1@%w4 8@%x5 -4@[%x6, 4]")
		:: "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(text), "r"(&pairs[i & 7]));
#endif
}

// signs has -5 as a constant and in a register, of each width and sign.
PROBED void signs(long minus5)
{
#ifdef __x86_64__
	__asm__ volatile(NOTE("0", "ints", "signs", "8@$-5 8@%0 -8@$-5 -8@%0 4@$-5 4@%k0 -4@$-5 -4@%k0 2@$-5 2@%w0 1@$-5 1@%b0") :: "q"(minus5));
#else
	__asm__ volatile(NOTE("0", "ints", "signs", "8@-5 8@%x0 -8@-5 -8@%x0 4@-5 4@%w0 -4@-5 -4@%w0 2@-5 2@%w0 1@-5 1@%w0") :: "r"(minus5));
#endif
}

static long enabled;

PROBED void guarded(long i)
{
	if (__builtin_expect(*(volatile unsigned short *)&work_guarded_semaphore, 0)) {
		enabled++;
		__asm__ volatile(NOTE("work_guarded_semaphore", "work", "guarded__name", "8@%0") :: "r"(i));
	}
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;

	for (long i = 0; i < n; i++) {
		inlined((int)i);
		inlined(-1);
		forms(i, (int)-i, (short)-2, -3, 250, "text", i);
		guarded(i);
		signs(-5);
		__asm__ volatile(NOTE("0", "other", "plain", ""));
	}
	printf("enabled %ld\n", enabled);
	return 0;
}
