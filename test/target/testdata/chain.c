/* chain calls main, a, b, c ARGV[1] times; c writes a byte. Then it calls last at ARGV[2] different depths. It waits at
 * its end: what it has mapped is looked at while it lives. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#define KEPT asm volatile("")
long c(int fd) { long n = write(fd, "x", 1); KEPT; return n + 1; }
long b(int fd) { long n = c(fd); KEPT; return n + 1; }
long a(int fd) { long n = b(fd); KEPT; return n + 1; }
long last(long n) { KEPT; return n; }
long deep(long n) { long m = n ? deep(n - 1) : last(n); KEPT; return m + 1; }
int main(int argc, char **argv) {
	int fd = open("/dev/null", O_WRONLY);
	long n = 0;
	for (int i = 0; i < atoi(argv[1]); i++) n += a(fd);
	for (int i = 0; argc > 2 && i < atoi(argv[2]); i++) n += deep(i);
	usleep(300000);
	return n == 1;
}
