// Calls inner with a number that says how it got there: 1 by recursion, 2 from a function that the C library calls, 3
// from the handler of a signal, 4 from one on a stack of its own. It begins with the first line on its input.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

volatile long sum;

__attribute__((noinline)) void inner(int way) { sum += way; }

__attribute__((noinline)) int again(int depth)
{
	volatile char room[100];

	room[0] = depth;
	if (depth == 0)
		inner(1);
	else
		again(depth - 1);
	sum += room[0];
	return depth;
}

__attribute__((noinline)) int order(const void *a, const void *b)
{
	inner(2);
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) void handler(int signal) { inner(signal == SIGUSR1 ? 3 : 4); }

int main(void)
{
	int list[2] = {2, 1};
	stack_t other = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	struct sigaction action;

	puts("ready");
	fflush(stdout);
	getchar();
	for (int i = 0; i < 10; i++) {
		again(5);
		qsort(list, 2, sizeof(int), order);
		signal(SIGUSR1, handler);
		raise(SIGUSR1);
		memset(&action, 0, sizeof(action));
		action.sa_handler = handler;
		action.sa_flags = SA_ONSTACK;
		sigaltstack(&other, NULL);
		sigaction(SIGUSR2, &action, NULL);
		raise(SIGUSR2);
	}
	return 0;
}
