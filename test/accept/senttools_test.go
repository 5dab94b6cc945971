package accept

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// Signals sent by descriptors of /proc and of threads, and those chosen by RTMIN and RTMAX (`killsnoop`, `sigsnoop`).

// A descriptor of the folder /proc/PID names that process, and one of a thread its process where the call says so.
func TestKillsnoopDescriptors(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc", "descriptors.c", `#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
static volatile int tid;
static void *wait(void *unused) {
	tid = syscall(SYS_gettid);
	pause();
	return 0;
}
int main(void) {
	char path[64];
	pthread_t thread;
	pthread_create(&thread, 0, wait, 0);
	while (!tid)
		usleep(1000);
	sprintf(path, "/proc/%d", getpid());
	int process = open(path, O_DIRECTORY | O_RDONLY), one = syscall(SYS_pidfd_open, tid, O_EXCL);
	int folder = syscall(SYS_pidfd_send_signal, process, 0, 0, 0);
	int whole = syscall(SYS_pidfd_send_signal, one, 0, 0, 2);
	printf("%d %d %d\n", getpid(), folder, whole);
}
`)
	e := startrace(t, "killsnoop", "-c", binary).ok(t)
	pid, want := number(t, e.stdout, `(?m)^(\d+) -?\d+ -?\d+$`), 1
	if regexp.MustCompile(`(?m)^\d+ 0 0$`).MatchString(e.stdout) {
		want = 2 // from Linux 6.9 on
	}
	checkAccount(t, e, rowsLike(e, fmt.Sprintf(`%d descriptors 0 %d 0`, pid, pid)), want)
}

// Real-time signals are counted from both of their ends.
func TestRealTimeSignals(t *testing.T) {
	needTracing(t)
	const command = `bash -c "trap : 34 36 63 64; kill -34 \$\$; kill -36 \$\$; kill -63 \$\$; kill -64 \$\$"`
	for sig, want := range map[string]string{"RTMIN": "SIGRTMIN", "SIGRTMIN+2": "SIGRTMIN+2", "rtmax": "SIGRTMIN+30",
		"SIGRTMAX-1": "SIGRTMIN+29", "RTMAX-30": "SIGRTMIN"} {
		for _, tool := range []string{"killsnoop", "sigsnoop"} {
			e := startrace(t, "-q", tool, "-s", sig, "-c", command).ok(t)
			if lines := linesWith(e.stdout, "bash "); e.skipped(t) == 0 &&
				(len(lines) != 1 || !strings.Contains(lines[0], " "+want+" ")) {
				t.Errorf("%s -s %s: %q", tool, sig, lines)
			}
		}
	}
	for _, none := range []string{"RTMAX-31", "RTMAX-", "RTMAX+1", "RTMAXX", "RTMIN-1"} {
		if e := startrace(t, "-q", "killsnoop", "-s", none, "-c", "true"); e.status != 2 {
			t.Errorf("-s %s: status %d", none, e.status)
		}
	}
}
