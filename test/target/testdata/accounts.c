// Calls of known number that begin and end as calls seldom do: accounts WHAT N.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROBED __attribute__((noinline, noclone, noipa))

PROBED long leaf(long n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

PROBED long mid(long n)
{
	long r = leaf(n);
	__asm__ volatile("" : "+r"(r));
	return r;
}

PROBED void forks(void)
{
	if (fork() == 0) {
		leaf(1);
		_exit(0);
	}
	wait(NULL);
	leaf(2);
}

PROBED void vforks(void)
{
	if (vfork() == 0) {
		leaf(1);
		_exit(0);
	}
	wait(NULL);
	leaf(2);
}

static atomic_int within;

PROBED long stuck(long n)
{
	leaf(n);
	within++;
	for (;;)
		pause();
	return n;
}

static void *sticks(void *unused)
{
	stuck(1);
	return unused;
}

// killed has four threads in a call when the process is killed.
static void killed(void)
{
	pthread_t all[4];
	if (fork() == 0) {
		for (int i = 0; i < 4; i++)
			pthread_create(&all[i], NULL, sticks, NULL);
		while (within < 4)
			sched_yield();
		raise(SIGKILL);
	}
	wait(NULL);
}

PROBED void executes(void)
{
	execl("/proc/self/exe", "accounts", "calls", "10", NULL);
}

static void *calls(void *n)
{
	for (long i = 0; i < (long)n; i++)
		mid(i);
	return NULL;
}

static void threads(long n)
{
	pthread_t all[8];
	for (int i = 0; i < 8; i++)
		pthread_create(&all[i], NULL, calls, (void *)n);
	for (int i = 0; i < 8; i++)
		pthread_join(all[i], NULL);
}

// stopped makes calls that a tracer by ptrace stops.
static void stopped(long n)
{
	int status = 0;
	pid_t child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		calls((void *)n);
		_exit(0);
	}
	waitpid(child, &status, 0);
	while (!WIFEXITED(status) && ptrace(PTRACE_SYSCALL, child, NULL, NULL) == 0)
		waitpid(child, &status, 0);
}

static int first(void *n)
{
	calls(n);
	_exit(0);
}

// apart makes calls in a pid namespace, where the process has the number 1.
static void apart(long n)
{
	static char stack[1 << 16];
	waitpid(clone(first, stack + sizeof stack, CLONE_NEWPID | SIGCHLD, (void *)n), NULL, 0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 0;
	if (!strcmp(what, "calls"))
		calls((void *)n);
	else if (!strcmp(what, "threads"))
		threads(n);
	else if (!strcmp(what, "forks"))
		for (long i = 0; i < n; i++)
			forks();
	else if (!strcmp(what, "vforks"))
		for (long i = 0; i < n; i++)
			vforks();
	else if (!strcmp(what, "killed"))
		for (long i = 0; i < n; i++)
			killed();
	else if (!strcmp(what, "executes")) {
		mid(n);
		executes();
	} else if (!strcmp(what, "stopped"))
		stopped(n);
	else if (!strcmp(what, "apart"))
		apart(n);
	else
		return 2;
	return 0;
}
