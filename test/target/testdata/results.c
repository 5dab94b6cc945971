// Results of system calls that programs do not get as the kernel has them: results interrupted|denied.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int words[2];
static pid_t sleeper;
static pthread_t main_thread;

// asleep waits until the first thread sleeps in the system call of this number.
static void asleep(long number)
{
	char path[64], line[256];
	long in;
	snprintf(path, sizeof path, "/proc/self/task/%d/syscall", sleeper);
	do {
		FILE *f = fopen(path, "r");
		in = -1;
		if (f && fgets(line, sizeof line, f))
			sscanf(line, "%ld", &in);
		if (f)
			fclose(f);
	} while (in != number);
}

// interrupt sends a signal in each of the calls.
static void *interrupt(void *unused)
{
	asleep(SYS_read);
	pthread_kill(main_thread, SIGUSR1);
	asleep(SYS_clock_nanosleep);
	pthread_kill(main_thread, SIGUSR2);
	asleep(SYS_rt_sigsuspend);
	pthread_kill(main_thread, SIGUSR2);
	return unused;
}

static void on_signal(int number)
{
	if (number == SIGUSR1 && write(words[1], "x", 1) != 1)
		_exit(3);
}

static int interrupted(void)
{
	struct sigaction again = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, once = {.sa_handler = on_signal};
	struct timespec long_time = {.tv_sec = 3600};
	sigset_t none;
	pthread_t other;
	char c;
	sleeper = gettid();
	main_thread = pthread_self();
	sigemptyset(&none);
	if (pipe(words) || sigaction(SIGUSR1, &again, NULL) || sigaction(SIGUSR2, &once, NULL) ||
	    pthread_create(&other, NULL, interrupt, NULL))
		return 3;
	printf("read %zd\n", read(words[0], &c, 1));
	printf("sleep %d\n", clock_nanosleep(CLOCK_MONOTONIC, 0, &long_time, NULL) == EINTR);
	printf("suspend %d\n", sigsuspend(&none) < 0 && errno == EINTR);
	return pthread_join(other, NULL);
}

// denied calls getppid once, then five times behind a filter.
static int denied(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};
	syscall(SYS_getppid);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 3;
	for (int i = 0; i < 5; i++)
		syscall(SYS_getppid);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "interrupted"))
		return interrupted();
	if (argc == 2 && !strcmp(argv[1], "denied"))
		return denied();
	return 2;
}
