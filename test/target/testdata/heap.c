// Allocations and threads of known number, of which some memory is kept: heap.
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

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

PROBED void kept_posix(void)
{
	void *p;

	if (posix_memalign(&p, 64, 1001) == 0)
		last = p;
}

PROBED void kept_aligned(void)
{
	last = aligned_alloc(64, 1024);
}

PROBED void kept_memalign(void)
{
	last = memalign(64, 1003);
}

PROBED void kept_valloc(void)
{
	last = valloc(1004);
}

PROBED void kept_pvalloc(void)
{
	last = pvalloc(1005);
}

PROBED void kept_array(void)
{
	last = reallocarray(malloc(10), 3, 335);
}

// More than the allocator has: it gets memory by mmap for itself.
PROBED void kept_large(void)
{
	last = malloc(5000000);
}

// There is no such memory, so what was there stays.
PROBED void refused(void)
{
	last = malloc(1006);
	free(realloc(last, PTRDIFF_MAX - 4096));
}

// More than a number can say, which is 0 in its lowest 64 bits.
PROBED void refused_array(void)
{
	volatile size_t many = (size_t)1 << 62;

	last = malloc(1007);
	free(reallocarray(last, many, 16));
}

#define MAP(pages) mmap(NULL, (pages) * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)

// Of ten pages the first four are given back.
PROBED void kept_mapped(void)
{
	char *p = MAP(10);

	munmap(p, 4 * 4096);
	last = p + 4 * 4096;
}

PROBED void kept_remapped(void)
{
	last = mremap(MAP(3), 3 * 4096, 5 * 4096, MREMAP_MAYMOVE);
}

// The pages have another place, and the mapping from which they are taken stays.
PROBED void kept_twice(void)
{
	size_t size = 6 * 4096;

	// libc gives the place on only with MREMAP_FIXED, but the kernel reads it.
	last = (void *)syscall(SYS_mremap, MAP(6), size, size, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
}

// Of eight pages the first two become three.
PROBED void kept_in_parts(void)
{
	last = mremap(MAP(8), 2 * 4096, 3 * 4096, MREMAP_MAYMOVE);
}

// An allocator that wants its blocks at certain multiples gives back what is before and behind one: of sixteen pages
// the last four, the first three, and the last two of what is left; of five that were made six the last one.
PROBED void kept_trimmed(void)
{
	char *p = MAP(16);

	munmap(p + 12 * 4096, 4 * 4096);
	munmap(p, 3 * 4096);
	munmap(p + 10 * 4096, 2 * 4096);
	p = mremap(MAP(5), 5 * 4096, 6 * 4096, MREMAP_MAYMOVE);
	munmap(p + 5 * 4096, 4096);
	last = p;
}

PROBED void unmapped(void)
{
	char *p = MAP(7);

	munmap(MAP(7), 7 * 4096);
	munmap(p + 4096, 6 * 4096);
	munmap(p, 4096);
}

// Small and large allocations in turns, so that a sample that takes every second one sees one kind only.
PROBED void kept_many(int n)
{
	for (int i = 0; i < n; i++)
		last = malloc(i % 2 ? 40 : 400);
}

PROBED void *worker(void *arg)
{
	return arg;
}

// With an argument it keeps so many allocations, else some of each kind.
// No thread has a stack of so many bytes.
static int too_large(void)
{
	pthread_t thread;
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)1 << 46);
	return pthread_create(&thread, &attr, worker, NULL);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		kept_many(atoi(argv[1]));
		kept_large();
		return 0;
	}
	for (int i = 0; i < 100; i++) {
		kept(1000);
		freed(50000);
	}
	kept_cleared(7, 111);
	grown();
	kept_posix();
	kept_aligned();
	kept_memalign();
	kept_valloc();
	kept_pvalloc();
	kept_array();
	kept_large();
	refused();
	refused_array();
	kept_mapped();
	kept_remapped();
	kept_twice();
	kept_in_parts();
	kept_trimmed();
	unmapped();
	for (int i = 0; i < 3; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, worker, NULL) != 0 || pthread_join(thread, NULL) != 0)
			return 1;
	}
	return too_large() != EAGAIN;
}
