// Calls leaf from several places of two functions: from left with 1 to 4, from right with 10 and 20.
//
//	sides N [M]    does so N times; in M processes beside its own, which are copies of it
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

// KEPT keeps the compiler from making jumps of calls.
#define KEPT __asm__ volatile("")
#define PROBED __attribute__((noinline, noclone, noipa))

PROBED long leaf(long n) { KEPT; return n; }
PROBED long left(void) { long n = leaf(1) + leaf(2) + leaf(3) + leaf(4); KEPT; return n; }
PROBED long right(void) { long n = leaf(10) + leaf(20); KEPT; return n; }

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1, m = argc > 2 ? atol(argv[2]) : 0, sum = 0;

	while (m-- > 0)
		if (fork() == 0)
			m = 0;
	for (long i = 0; i < n; i++)
		sum += left() + right();
	while (wait(0) > 0)
		;
	return sum == 40 * n ? 0 : 1;
}
