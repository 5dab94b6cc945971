// Allocations and threads of known number, of which some memory is kept: heap.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PROBED __attribute__((noinline, noclone, noipa))

// What is kept must be seen by somebody, or the compiler leaves it out.
void *volatile last;

PROBED void kept(size_t size)
{
	last = malloc(size);
	memset(last, 1, size);
}

PROBED void kept_cleared(size_t n, size_t size)
{
	last = calloc(n, size);
}

PROBED void grown(void)
{
	last = malloc(10);
	last = realloc(last, 100000);
}

PROBED void freed(size_t size)
{
	last = malloc(size);
	last = realloc(last, 3 * size);
	free(last);
}

PROBED void *worker(void *arg)
{
	return arg;
}

int main(void)
{
	for (int i = 0; i < 100; i++) {
		kept(1000);
		freed(50000);
	}
	kept_cleared(7, 111);
	grown();
	for (int i = 0; i < 3; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, worker, NULL) != 0 || pthread_join(thread, NULL) != 0)
			return 1;
	}
	return 0;
}
