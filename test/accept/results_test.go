package accept

import (
	"strings"
	"testing"
)

// A signal ends a call with an error that programs do not see: the program gets EINTR, or the call is made again.
//
// > A call that a signal interrupts ends with an error of the kernel's own, which the program never sees: `ERESTARTSYS`
// > (-512), `ERESTARTNOINTR`, `ERESTARTNOHAND` or `ERESTART_RESTARTBLOCK` (-516).
// > The program gets `EINTR`, or the kernel makes the call once more.
// > The second call is another event (`syscall:restart_syscall` after `ERESTART_RESTARTBLOCK`).
func TestInterruptedCalls(t *testing.T) {
	e := onTarget(t, "results", `
probe("syscall:{read,clock_nanosleep,rt_sigsuspend}", lambda e: print("call", e.func, e.ret, errno(e.ret)),
      where = lambda e: e.ret <= -512 or e.ret == 1)
`, "interrupted")
	equalLines(t, sorted(e.stdout, "call"), []string{"call read -512 ERESTARTSYS", "call read 1 1",
		"call clock_nanosleep -516 ERESTART_RESTARTBLOCK", "call rt_sigsuspend -514 ERESTARTNOHAND"})
	for _, want := range []string{"read 1", "sleep 1", "suspend 1"} {
		if !strings.Contains(e.stdout, want+"\n") {
			t.Errorf("the program did not print %q:\n%s", want, e.stdout)
		}
	}
}

// > A call that a seccomp filter denies has no start, because the kernel shows its end only.
// > At `syscall:` it counts as an end without a start.
// > `tracepoint:syscalls:sys_exit_*` and `raw_syscalls` have its result.
func TestDeniedCalls(t *testing.T) {
	e := onTarget(t, "results", `
probe("syscall:getppid", lambda e: print("call", e.ret > 0))
probe("tracepoint:syscalls:sys_exit_getppid", lambda e: print("end", errno(e.args.ret) == "EPERM"))
probe("tracepoint:raw_syscalls:sys_exit", lambda e: print("raw", syscall_name(e.args.id)),
      where = lambda e: e.args.ret == -EPERM)
`, "denied")
	want := []string{"call True", "end False"}
	for range 5 {
		want = append(want, "end True", "raw getppid")
	}
	equalLines(t, sorted(e.stdout, ""), want)
	if _, ends := e.unended(t); ends != 5 {
		t.Errorf("%d ends without a start, want 5: %s", ends, e.stderr)
	}
}

// deniedFirst installs a filter that denies getppid, and then calls it five times for the first time.
const deniedFirst = `
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {4, code};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
	for (int i = 0; i < 5; i++)
		syscall(SYS_getppid);
	return 0;
}
`

// Of calls that are denied from the first on, all but that one are told; all where the thread has made others that the
// probe has.
func TestDeniedFromTheFirst(t *testing.T) {
	needTracing(t)
	binary := builtFrom(t, "denied.c", deniedFirst, "gcc")
	for points, want := range map[string]int{"syscall:getppid": 4, "syscall:*": 5, "syscall:get*pid": 4} {
		e := startrace(t, "count", points, "-c", binary).ok(t)
		if _, ends := e.unended(t); ends != want {
			t.Errorf("%s: %d ends without a start, want %d: %s", points, ends, want, e.stderr)
		}
	}
}
