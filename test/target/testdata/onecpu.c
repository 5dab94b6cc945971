// onecpu N: four processes on one CPU, which each call hit N times with numbers of their own.
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noipa)) long hit(long a, long b, long c, long d) { return a + b + c + d; }
int main(int argc, char **argv)
{
	cpu_set_t one;
	long calls = atol(argv[1]);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof one, &one);
	for (long w = 1; w <= 4; w++)
		if (!fork()) {
			for (long i = 0; i < calls; i++)
				hit(w, w << 8, w << 16, w << 24);
			_exit(0);
		}
	while (wait(0) > 0)
		;
	return 0;
}
