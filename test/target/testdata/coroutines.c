// Coroutines, whose calls are on stacks of their own: coroutines turns N | below | library.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define PROBED __attribute__((noinline, noclone, noipa))

static ucontext_t mainly, routine[2];

PROBED long work(long n)
{
	swapcontext(&routine[n % 2], &mainly);
	return n + 100;
}

static void body(int which, int rounds)
{
	for (int i = 0; i < rounds; i++)
		work(2 * i + which);
}

// turns runs two that take turns within work: the calls of one begin and end between those of the other.
static void turns(long n)
{
	for (int i = 0; i < 2; i++) {
		getcontext(&routine[i]);
		routine[i].uc_stack.ss_size = 1 << 16;
		routine[i].uc_stack.ss_sp = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		routine[i].uc_link = &mainly;
		makecontext(&routine[i], (void (*)(void))body, 2, i, (int)n);
	}
	for (long i = 0; i <= n; i++)
		for (int j = 0; j < 2; j++)
			swapcontext(&mainly, &routine[j]);
}

static char lower[1 << 16];

PROBED long within(long n)
{
	long rest = n > 0 ? within(n - 1) : 0;
	__asm__ volatile("" : "+r"(rest));
	return rest + 1;
}

PROBED long switches(long n)
{
	swapcontext(&routine[0], &mainly);
	return n + within(1);
}

static void starts(void) { switches(5); }

static int leaves;

static ssize_t take(void *of, const char *text, size_t n)
{
	if (leaves-- > 0)
		swapcontext(&routine[0], &mainly);
	return n;
}

// flushes calls a function of the library, which calls take.
static void flushes(void)
{
	FILE *f = fopencookie(NULL, "w", (cookie_io_functions_t){.write = take});
	fputs("text", f);
	fflush(f);
}

static void goes_on(void) { within(2); }

// below has a coroutine on a stack that lies below that of main, in a call when main goes on with calls of its own.
static void below(void (*first)(void), void (*between)(void))
{
	getcontext(&routine[0]);
	routine[0].uc_stack.ss_sp = lower;
	routine[0].uc_stack.ss_size = sizeof lower;
	routine[0].uc_link = &mainly;
	makecontext(&routine[0], first, 0);
	swapcontext(&mainly, &routine[0]);
	between();
	swapcontext(&mainly, &routine[0]);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "turns"))
		turns(atol(argv[2]));
	else if (argc == 2 && !strcmp(argv[1], "below"))
		below(starts, goes_on);
	else if (argc == 2 && !strcmp(argv[1], "library")) {
		leaves = 1;
		below(flushes, flushes);
	} else
		return 2;
	return 0;
}
