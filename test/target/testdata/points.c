// Written by package diff (DIFF_WRITE=1 go test -run TestCarriedProgram ./test/diff), which calls it.
#include <unistd.h>
enum small { no, yes }; enum negative { under = -1, over = 1 };
struct s_ll { long a, b; }; struct s_i { int a; }; struct s_ii { int a, b; }; struct s_iii { int a, b, c; };
struct s_ssil { short a, b; int c; long d; }; struct s_c2 { char a[2]; }; struct s_dd { double a, b; };
struct s_ld { long a; double b; }; struct s_dl { double a; long b; }; struct s_lll { long a, b, c; };
struct s_ldl { long a; double b; long c; };
static void take(void *to, long n)
{
	for (char *at = to; n > 0; ) {
		long got = read(0, at, n);
		if (got <= 0)
			_exit(0);
		at += got;
		n -= got;
	}
}
static char *take_text(char *to)
{
	unsigned char n;
	take(&n, 1);
	if (n == 255)
		return (char *)8;
	take(to, n);
	to[n] = 0;
	return to;
}
#define PROBED __attribute__((noinline, noipa))
#define NOTE(name, args) \
	"990: nop\n.pushsection .note.stapsdt,\"?\",\"note\"\n.balign 4\n.4byte 992f-991f, 994f-993f, 3\n" \
	"991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b\n.8byte _.stapsdt.base\n.8byte 0\n" \
	".asciz \"diff\"\n.asciz \"" name "\"\n.asciz \"" args "\"\n994: .balign 4\n.popsection\n" \
	".ifndef _.stapsdt.base\n.pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
	".weak _.stapsdt.base\n.hidden _.stapsdt.base\n" \
	"_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n.popsection\n.endif\n"
static volatile long slots[64];
static unsigned long frames[32];
static unsigned char known;
static inline __attribute__((always_inline)) void note(void *self)
{
	frames[0] = (unsigned long)self;
	known = 1;
	for (void **at = __builtin_frame_address(0); at && known < 32; at = at[0])
		frames[known++] = (unsigned long)at[1];
}
PROBED void chosen(int k);
PROBED void down(int k, int deep)
{
	if (deep > 0)
		down(k, deep - 1);
	else
		chosen(k);
	__asm__ volatile("");
}
void begin(int k, int deep);
#ifdef __x86_64__
__asm__(".globl begin\nbegin: push %rbp\nxor %ebp, %ebp\ncall down\npop %rbp\nret\n");
#else
__asm__(".globl begin\nbegin: stp x29, x30, [sp, -16]!\nmov x29, 0\nbl down\nldp x29, x30, [sp], 16\nret\n");
#endif
static unsigned f0_a0;
static struct s_dl f0_a1;
static struct s_dl f0_a2;
static int f0_a3;
static struct s_iii f0_a4;
static int f0_a5;
static unsigned f0_a6;
static float f0_a7;
static unsigned long f0_a8;
static struct s_dl f0_r;
PROBED struct s_dl f0(unsigned a0, struct s_dl a1, struct s_dl a2, int a3, struct s_iii a4, int a5, unsigned a6, float a7, unsigned long a8)
{
	note(f0);
	return f0_r;
}
static char *f1_a0, f1_a0_room[256];
static double f1_a1;
static enum small f1_a2;
static long f1_a3;
static int f1_a4;
static int f1_a5;
static struct s_ii f1_a6;
static double f1_a7;
static unsigned short f1_a8;
static unsigned char f1_r;
PROBED unsigned char f1(char * a0, double a1, enum small a2, long a3, int a4, int a5, struct s_ii a6, double a7, unsigned short a8)
{
	note(f1);
	return f1_r;
}
static unsigned char f2_a0;
static float f2_a1;
static short f2_a2;
static enum small f2_a3;
static unsigned char f2_a4;
static struct s_lll f2_a5;
static unsigned short f2_a6;
static long f2_a7;
static struct s_c2 f2_a8;
static double f2_r;
PROBED double f2(unsigned char a0, float a1, short a2, enum small a3, unsigned char a4, struct s_lll a5, unsigned short a6, long a7, struct s_c2 a8)
{
	note(f2);
	return f2_r;
}
static signed char f3_a0;
static long f3_a1;
static unsigned short f3_a2;
static short f3_a3;
static unsigned long f3_a4;
static struct s_ld f3_a5;
static struct s_dd f3_r;
PROBED struct s_dd f3(signed char a0, long a1, unsigned short a2, short a3, unsigned long a4, struct s_ld a5)
{
	note(f3);
	return f3_r;
}
static struct s_ldl f4_a0;
static unsigned short f4_a1;
static unsigned f4_a2;
static struct s_ll f4_a3;
static unsigned f4_a4;
static int f4_a5;
static unsigned short f4_a6;
static signed char f4_r;
PROBED signed char f4(struct s_ldl a0, unsigned short a1, unsigned a2, struct s_ll a3, unsigned a4, int a5, unsigned short a6)
{
	note(f4);
	return f4_r;
}
static signed char f5_a0;
PROBED void f5(signed char a0)
{
	note(f5);
	
}
static unsigned short f6_a0;
static signed char f6_a1;
static unsigned f6_a2;
static struct s_i f6_a3;
static float f6_a4;
static struct s_dl f6_a5;
static unsigned short f6_a6;
static struct s_i f6_a7;
static unsigned char f6_r;
PROBED unsigned char f6(unsigned short a0, signed char a1, unsigned a2, struct s_i a3, float a4, struct s_dl a5, unsigned short a6, struct s_i a7)
{
	note(f6);
	return f6_r;
}
static struct s_ssil f7_a0;
PROBED void f7(struct s_ssil a0)
{
	note(f7);
	
}
static int f8_a0;
static signed char f8_a1;
static void * f8_a2;
static signed char f8_a3;
static signed char f8_a4;
static long f8_a5;
static struct s_dd f8_a6;
static unsigned char f8_a7;
static char *f8_a8, f8_a8_room[256];
static char *f8_r, f8_r_room[256];
PROBED char * f8(int a0, signed char a1, void * a2, signed char a3, signed char a4, long a5, struct s_dd a6, unsigned char a7, char * a8)
{
	note(f8);
	return f8_r;
}
static struct s_ldl f9_a0;
static double f9_a1;
static struct s_dd f9_r;
PROBED struct s_dd f9(struct s_ldl a0, double a1)
{
	note(f9);
	return f9_r;
}
static char *f10_a0, f10_a0_room[256];
static unsigned f10_a1;
static unsigned short f10_a2;
static double f10_a3;
static char *f10_a4, f10_a4_room[256];
volatile unsigned f10_v1;
volatile long f10_v4;
PROBED void f10(char * a0, unsigned a1, unsigned short a2, double a3, char * a4)
{
	note(f10);
	volatile char * m0 = a0; f10_v1 = a1; f10_v4 = (long)a4;
#ifdef __x86_64__
	__asm__ volatile(NOTE("f10", "8@%0 4@%1 2@%w2 8f@%3 8@%4") :: "m"(m0), "m"(f10_v1), "q"(a2), "x"(a3), "m"(f10_v4));
#endif
}
static int f11_a0;
static char *f11_a1, f11_a1_room[256];
static long f11_a2;
static unsigned long f11_a3;
volatile long f11_v1;
PROBED void f11(int a0, char * a1, long a2, unsigned long a3)
{
	note(f11);
	f11_v1 = (long)a1; slots[18] = (long)a2; slots[26] = (long)a3;
#ifdef __x86_64__
	__asm__ volatile(NOTE("f11", "-4@%k0 8@%1 -8@16(%2,%3,8) 8@16(%4,%5,8)") :: "q"(a0), "m"(f11_v1), "r"(slots), "r"(16L), "r"(slots), "r"(24L));
#endif
}
static char *f12_a0, f12_a0_room[256];
static char *f12_a1, f12_a1_room[256];
static long f12_a2;
PROBED void f12(char * a0, char * a1, long a2)
{
	note(f12);
	slots[2] = (long)a0; volatile char * m1 = a1;
#ifdef __x86_64__
	__asm__ volatile(NOTE("f12", "8@16(%0,%1,8) 8@%2 -8@$139532452") :: "r"(slots), "r"(0L), "m"(m1));
#endif
}
static unsigned long f13_a0;
static double f13_a1;
PROBED void f13(unsigned long a0, double a1)
{
	note(f13);
	volatile unsigned long m0 = a0;
#ifdef __x86_64__
	__asm__ volatile(NOTE("f13", "8@%0 8f@%1") :: "m"(m0), "x"(a1));
#endif
}
static char *f14_a0, f14_a0_room[256];
PROBED void f14(char * a0)
{
	note(f14);
	volatile char * m0 = a0;
#ifdef __x86_64__
	__asm__ volatile(NOTE("f14", "8@%0") :: "m"(m0));
#endif
}
static char *f15_a0, f15_a0_room[256];
static unsigned short f15_a1;
static unsigned f15_a2;
static int f15_a3;
static double f15_a4;
volatile int f15_v3;
PROBED void f15(char * a0, unsigned short a1, unsigned a2, int a3, double a4)
{
	note(f15);
	f15_v3 = a3;
#ifdef __x86_64__
	__asm__ volatile(NOTE("f15", "8@%q0 -1@%h1 4@$58499254 -4@%2 8f@%3") :: "q"(a0), "Q"(a1), "m"(f15_v3), "x"(a4));
#endif
}
void chosen(int k)
{
		switch (k) {
		case 0:
			take(&f0_a0, sizeof f0_a0);
			take(&f0_a1, sizeof f0_a1);
			take(&f0_a2, sizeof f0_a2);
			take(&f0_a3, sizeof f0_a3);
			take(&f0_a4, sizeof f0_a4);
			take(&f0_a5, sizeof f0_a5);
			take(&f0_a6, sizeof f0_a6);
			take(&f0_a7, sizeof f0_a7);
			take(&f0_a8, sizeof f0_a8);
			take(&f0_r, sizeof f0_r);
			f0(f0_a0, f0_a1, f0_a2, f0_a3, f0_a4, f0_a5, f0_a6, f0_a7, f0_a8);
			break;
		case 1:
			f1_a0 = take_text(f1_a0_room);
			take(&f1_a1, sizeof f1_a1);
			take(&f1_a2, sizeof f1_a2);
			take(&f1_a3, sizeof f1_a3);
			take(&f1_a4, sizeof f1_a4);
			take(&f1_a5, sizeof f1_a5);
			take(&f1_a6, sizeof f1_a6);
			take(&f1_a7, sizeof f1_a7);
			take(&f1_a8, sizeof f1_a8);
			take(&f1_r, sizeof f1_r);
			f1(f1_a0, f1_a1, f1_a2, f1_a3, f1_a4, f1_a5, f1_a6, f1_a7, f1_a8);
			break;
		case 2:
			take(&f2_a0, sizeof f2_a0);
			take(&f2_a1, sizeof f2_a1);
			take(&f2_a2, sizeof f2_a2);
			take(&f2_a3, sizeof f2_a3);
			take(&f2_a4, sizeof f2_a4);
			take(&f2_a5, sizeof f2_a5);
			take(&f2_a6, sizeof f2_a6);
			take(&f2_a7, sizeof f2_a7);
			take(&f2_a8, sizeof f2_a8);
			take(&f2_r, sizeof f2_r);
			f2(f2_a0, f2_a1, f2_a2, f2_a3, f2_a4, f2_a5, f2_a6, f2_a7, f2_a8);
			break;
		case 3:
			take(&f3_a0, sizeof f3_a0);
			take(&f3_a1, sizeof f3_a1);
			take(&f3_a2, sizeof f3_a2);
			take(&f3_a3, sizeof f3_a3);
			take(&f3_a4, sizeof f3_a4);
			take(&f3_a5, sizeof f3_a5);
			take(&f3_r, sizeof f3_r);
			f3(f3_a0, f3_a1, f3_a2, f3_a3, f3_a4, f3_a5);
			break;
		case 4:
			take(&f4_a0, sizeof f4_a0);
			take(&f4_a1, sizeof f4_a1);
			take(&f4_a2, sizeof f4_a2);
			take(&f4_a3, sizeof f4_a3);
			take(&f4_a4, sizeof f4_a4);
			take(&f4_a5, sizeof f4_a5);
			take(&f4_a6, sizeof f4_a6);
			take(&f4_r, sizeof f4_r);
			f4(f4_a0, f4_a1, f4_a2, f4_a3, f4_a4, f4_a5, f4_a6);
			break;
		case 5:
			take(&f5_a0, sizeof f5_a0);
			f5(f5_a0);
			break;
		case 6:
			take(&f6_a0, sizeof f6_a0);
			take(&f6_a1, sizeof f6_a1);
			take(&f6_a2, sizeof f6_a2);
			take(&f6_a3, sizeof f6_a3);
			take(&f6_a4, sizeof f6_a4);
			take(&f6_a5, sizeof f6_a5);
			take(&f6_a6, sizeof f6_a6);
			take(&f6_a7, sizeof f6_a7);
			take(&f6_r, sizeof f6_r);
			f6(f6_a0, f6_a1, f6_a2, f6_a3, f6_a4, f6_a5, f6_a6, f6_a7);
			break;
		case 7:
			take(&f7_a0, sizeof f7_a0);
			f7(f7_a0);
			break;
		case 8:
			take(&f8_a0, sizeof f8_a0);
			take(&f8_a1, sizeof f8_a1);
			take(&f8_a2, sizeof f8_a2);
			take(&f8_a3, sizeof f8_a3);
			take(&f8_a4, sizeof f8_a4);
			take(&f8_a5, sizeof f8_a5);
			take(&f8_a6, sizeof f8_a6);
			take(&f8_a7, sizeof f8_a7);
			f8_a8 = take_text(f8_a8_room);
			f8_r = take_text(f8_r_room);
			f8(f8_a0, f8_a1, f8_a2, f8_a3, f8_a4, f8_a5, f8_a6, f8_a7, f8_a8);
			break;
		case 9:
			take(&f9_a0, sizeof f9_a0);
			take(&f9_a1, sizeof f9_a1);
			take(&f9_r, sizeof f9_r);
			f9(f9_a0, f9_a1);
			break;
		case 10:
			f10_a0 = take_text(f10_a0_room);
			take(&f10_a1, sizeof f10_a1);
			take(&f10_a2, sizeof f10_a2);
			take(&f10_a3, sizeof f10_a3);
			f10_a4 = take_text(f10_a4_room);
			f10(f10_a0, f10_a1, f10_a2, f10_a3, f10_a4);
			break;
		case 11:
			take(&f11_a0, sizeof f11_a0);
			f11_a1 = take_text(f11_a1_room);
			take(&f11_a2, sizeof f11_a2);
			take(&f11_a3, sizeof f11_a3);
			f11(f11_a0, f11_a1, f11_a2, f11_a3);
			break;
		case 12:
			f12_a0 = take_text(f12_a0_room);
			f12_a1 = take_text(f12_a1_room);
			take(&f12_a2, sizeof f12_a2);
			f12(f12_a0, f12_a1, f12_a2);
			break;
		case 13:
			take(&f13_a0, sizeof f13_a0);
			take(&f13_a1, sizeof f13_a1);
			f13(f13_a0, f13_a1);
			break;
		case 14:
			f14_a0 = take_text(f14_a0_room);
			f14(f14_a0);
			break;
		case 15:
			f15_a0 = take_text(f15_a0_room);
			take(&f15_a1, sizeof f15_a1);
			take(&f15_a2, sizeof f15_a2);
			take(&f15_a3, sizeof f15_a3);
			take(&f15_a4, sizeof f15_a4);
			f15(f15_a0, f15_a1, f15_a2, f15_a3, f15_a4);
			break;
		}
	__asm__ volatile("");
}
int main(void)
{
	for (unsigned char k[2];;) {
		take(k, 2);
		known = 0;
		begin(k[0], k[1]);
		if (write(1, k, 1) != 1 || write(1, &known, 1) != 1 || write(1, frames, 8 * known) != 8 * known)
			return 1;
	}
}
