// Calls of known number, arguments and results, for probes of functions: calls WHAT [N].
#define _GNU_SOURCE
#include <linux/membarrier.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROBED __attribute__((noinline, noclone, noipa))

PROBED long add(long a, int b, const char *text) { return a + b + (long)strlen(text); }

PROBED int negative(int a) { return -a; }

PROBED long many(long a, long b, long c, long d, long e, long f, long g, int h, long i, long j)
{
	return a + b + c + d + e + f + g + h + i + j;
}

// KEPT keeps the compiler from making a loop of a recursion.
#define KEPT(x) __asm__ volatile("" : "+r"(x))

PROBED long factorial(long n)
{
	if (n < 2)
		return 1;
	long rest = factorial(n - 1);
	KEPT(rest);
	return n * rest;
}

PROBED long down(long n)
{
	if (n == 0)
		return 0;
	long rest = down(n - 1);
	KEPT(rest);
	return 1 + rest;
}

PROBED long even(long n);
PROBED long odd(long n) { return n == 0 ? 0 : even(n - 1); }
PROBED long even(long n) { return n == 0 ? 1 : odd(n - 1); }

static jmp_buf back;

PROBED void leap(int depth)
{
	if (depth == 0)
		longjmp(back, 1);
	leap(depth - 1);
	KEPT(depth);
}

static volatile sig_atomic_t handled;

PROBED long tick(long n)
{
	if (n % 2 == 0)
		raise(SIGUSR1);
	KEPT(n);
	return n + 1;
}

static void on_signal(int number)
{
	handled += (int)tick(2 * handled + 1);
}

static void calls(long n)
{
	for (long i = 0; i < n; i++) {
		add(i, -3, "abc");
		negative((int)i);
		many(i, 2, 3, 4, 5, 6, 7, -8, 9, 10 + i);
	}
}

static void tails(long n)
{
	for (long i = 0; i < n; i++)
		even(i % 7);
}

static void leaps(long n)
{
	for (volatile long i = 0; i < n; i++)
		if (setjmp(back) == 0)
			leap(3);
	negative(7);
}

PROBED long vault(int depth)
{
	if (setjmp(back) == 0)
		leap(depth);
	return depth;
}

// vaults leaves n calls at once, first to a call that goes on, then to main's frame.
static void vaults(long n)
{
	vault((int)n);
	negative(1);
	if (setjmp(back) == 0)
		leap((int)n);
	negative(2);
	negative(3);
}

// executes leaves its call by executing the program anew.
PROBED long executes(long n)
{
	execl("/proc/self/exe", "calls", "factorial", "3", NULL);
	return n;
}

PROBED void dies(int depth)
{
	if (depth == 0)
		raise(SIGKILL);
	dies(depth - 1);
	KEPT(depth);
}

// deaths are n processes, each killed within 60 calls. The kernel lets go of a process behind a grace period of RCU,
// which is long on a busy machine: membarrier waits for one.
static void deaths(long n)
{
	for (long i = 0; i < n; i++) {
		if (fork() == 0)
			dies(59);
		wait(NULL);
		if (i % 20 == 19)
			syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	}
	negative(4);
}

static void signals(long n)
{
	static char stack[1 << 16];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_NODEFER};
	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (long i = 0; i < n; i++)
		tick(2 * i);
}

static void *thread(void *n)
{
	for (long i = 0; i < (long)n; i++)
		down(i % 8);
	return NULL;
}

static void threads(long n)
{
	pthread_t all[8];
	for (int i = 0; i < 8; i++)
		pthread_create(&all[i], NULL, thread, (void *)n);
	for (int i = 0; i < 8; i++)
		pthread_join(all[i], NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 1;

	if (!strcmp(what, "calls"))
		calls(n);
	else if (!strcmp(what, "factorial"))
		printf("%ld\n", factorial(n));
	else if (!strcmp(what, "down"))
		printf("%ld\n", down(n));
	else if (!strcmp(what, "tails"))
		tails(n);
	else if (!strcmp(what, "leaps"))
		leaps(n);
	else if (!strcmp(what, "vaults"))
		vaults(n);
	else if (!strcmp(what, "executes"))
		executes(n);
	else if (!strcmp(what, "deaths"))
		deaths(n);
	else if (!strcmp(what, "signals"))
		signals(n);
	else if (!strcmp(what, "threads"))
		threads(n);
	else if (!strcmp(what, "wait")) {
		puts("ready");
		fflush(stdout);
		getchar();
		calls(n);
	} else
		return 2;
	return 0;
}
