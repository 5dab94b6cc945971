// Stacks that are known: main calls a, that b, that c, which writes a byte.
//
//	chain N [M]       calls last at M different depths, then N of these calls
//	chain brief N     N children with one of these calls each, which run this program anew and end at once
//	chain alone N     the same while whoever has started this program is stopped
//	chain copies N    the same of children that are copies of this process
//	chain changes N   each child makes the call as a copy, then runs this program anew for another
//	chain places N    N children that are copies of this process call places
//	chain leaves      main calls leaves, which ends the process with status 0
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// KEPT keeps the compiler from making jumps of calls.
#define KEPT __asm__ volatile("")
#define PROBED __attribute__((noinline, noclone, noipa))

PROBED long c(int fd) { long n = write(fd, "x", 1); KEPT; return n + 1; }
PROBED long b(int fd) { long n = c(fd); KEPT; return n + 1; }
PROBED long a(int fd) { long n = b(fd); KEPT; return n + 1; }
PROBED long last(long n) { KEPT; return n; }
PROBED long deep(long n) { long m = n ? deep(n - 1) : last(n); KEPT; return m + 1; }

// places has 64 instructions, each of which is a place to probe.
void places(void);
__asm__(".text\n.globl places\n.type places, %function\nplaces:\n.cfi_startproc\n.rept 64\nnop\n.endr\nret\n"
	".cfi_endproc\n.size places, . - places\n");

// leaves ends with a system call that does not return. Behind that another function begins, whose frame is another one.
void leaves(int status);
#if defined(__x86_64__)
#define LEAVE "sub $24, %rsp\n.cfi_def_cfa_offset 32\nmov $231, %eax\nsyscall\n"
#else
#define LEAVE "mov x8, #94\nsvc #0\n"
#endif
__asm__(".text\n.globl leaves\n.type leaves, %function\nleaves:\n.cfi_startproc\n" LEAVE
	".cfi_endproc\n.size leaves, . - leaves\n"
	".globl behind\n.type behind, %function\nbehind:\n.cfi_startproc\nret\n.cfi_endproc\n.size behind, . - behind\n");

static void child(char **argv, int fd, int copy, int anew)
{
	pid_t pid = copy ? fork() : vfork();
	if (pid == 0) {
		if (copy)
			a(fd);
		if (anew)
			execl("/proc/self/exe", argv[0], "once", (char *)0);
		_exit(copy && !anew ? 0 : 1);
	}
	int status;
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
		exit(3);
}

static void copy(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		places();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, 0, 0) != pid)
		exit(3);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "1";
	long n = argc > 2 ? atol(argv[2]) : 0;
	int fd = open("/dev/null", O_WRONLY);

	if (!strcmp(what, "once")) {
		a(fd);
		_exit(0);
	}
	if (!strcmp(what, "leaves")) {
		leaves(0);
		KEPT;
	}
	int alone = !strcmp(what, "alone");
	if (alone)
		kill(getppid(), SIGSTOP);
	for (long i = 0; i < n; i++)
		if (!strcmp(what, "brief") || alone)
			child(argv, fd, 0, 1);
		else if (!strcmp(what, "copies"))
			child(argv, fd, 1, 0);
		else if (!strcmp(what, "changes"))
			child(argv, fd, 1, 1);
		else if (!strcmp(what, "places"))
			copy();
		else
			deep(i);
	if (alone)
		kill(getppid(), SIGCONT);
	for (long i = 0; i < atol(what); i++)
		a(fd);
	return 0;
}
