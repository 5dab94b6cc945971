package accept

import (
	"slices"
	"strings"
	"testing"
)

// structCalls prints what calls have written into structs whose names in the kernel's definitions of the calls are not
// those of what programs pass: an older struct, a typedef of a pointer.
const structCalls = `
#include <linux/capability.h>
#include <stdio.h>
#include <sys/msg.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2] = {{0}};
	struct { long type; char text[7]; } message = {1};
	struct shmid_ds shared;
	struct msqid_ds queue;

	syscall(SYS_capget, &header, data);
	printf("capget %u %d %u %u\n", header.version, header.pid, data[0].effective, data[1].permitted);

	int id = shmget(IPC_PRIVATE, 5000, 0604);
	shmctl(id, IPC_STAT, &shared);
	shmctl(id, IPC_RMID, 0);
	printf("shmctl %zu %d\n", shared.shm_segsz, shared.shm_cpid);

	id = msgget(IPC_PRIVATE, 0600);
	msgsnd(id, &message, sizeof message.text, 0);
	msgctl(id, IPC_STAT, &queue);
	printf("msgctl %lu %lu\n", queue.msg_qnum, queue.msg_qbytes);
	printf("msgctl at its start %lu\n", queue.msg_qbytes -= 7);
	msgctl(id, IPC_SET, &queue);
	msgctl(id, IPC_RMID, 0);
	return 0;
}
`

// Structs of calls are read as programs pass them, whatever the kernel's definition of the call says.
func TestStructsOfCalls(t *testing.T) {
	needTracing(t)
	binary := builtFrom(t, "calls.c", structCalls, "gcc")
	e := startrace(t, "-q", script(t, `
probe("syscall:capget", lambda e: print("capget", e.args.header.version, e.args.header.pid, e.args.dataptr.effective,
                                        e.args.dataptr[1].permitted))
probe("syscall:shmctl", lambda e: print("shmctl", e.args.buf.shm_segsz, e.args.buf.shm_cpid),
      where = lambda e: e.args.cmd == 2)
probe("syscall:msgctl", lambda e: print("msgctl", e.args.buf.msg_qnum, e.args.buf.msg_qbytes),
      where = lambda e: e.args.cmd == 2)
probe("tracepoint:syscalls:sys_enter_msgctl", lambda e: print("msgctl at its start", e.args.buf.msg_qbytes),
      where = lambda e: e.args.cmd == 1)
`), "-c", "sh -c '"+binary+" | sed s/^/own:/'").ok(t)
	own := lines(strings.ReplaceAll(strings.Join(linesWith(e.stdout, "own:"), "\n"), "own:", ""))
	seen := slices.DeleteFunc(lines(e.stdout), func(l string) bool { return strings.HasPrefix(l, "own:") })
	if len(seen) != 4 || !slices.Equal(seen, own) {
		t.Errorf("the program prints %q, seen was %q", own, seen)
	}
}
