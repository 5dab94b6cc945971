package accept

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/kernel"
)

// unusedCalls are calls that fail and change nothing. Of each argument is said what it is given, in hex, and in
// brackets where the call does not use it.
var unusedCalls = []string{
	"fcntl fd=ffffffff cmd=1 [arg]",
	"fcntl fd=ffffffff cmd=2 arg=1",
	"fcntl fd=ffffffff cmd=3 [arg]",
	"fcntl fd=ffffffff cmd=406 arg=5",
	"fcntl fd=ffffffff cmd=408 [arg]",
	"ioctl fd=ffffffff cmd=5451 [arg]",
	"ioctl fd=ffffffff cmd=5401 arg=5",
	"ioctl fd=ffffffff cmd=c0045878 [arg]",
	"mremap addr=1 old_len=0 new_len=0 flags=0 [new_addr]",
	"mremap addr=1 old_len=0 new_len=0 flags=1 [new_addr]",
	"mremap addr=1 old_len=0 new_len=0 flags=3 new_addr=5000",
	"mremap addr=1 old_len=0 new_len=0 flags=5 new_addr=5000",
	"futex uaddr=1 op=80 val=1 utime=0 [uaddr2] [val3]",
	"futex uaddr=1 op=81 val=1 [utime] [uaddr2] [val3]",
	"futex uaddr=1 op=3 val=1 utime=9 uaddr2=5 [val3]",
	"futex uaddr=1 op=84 val=1 utime=9 uaddr2=5 val3=6",
	"futex uaddr=1 op=87 [val] [utime] [uaddr2] [val3]",
	"futex uaddr=1 op=189 val=1 utime=0 [uaddr2] val3=7",
	"prctl option=3 [arg2] [arg3] [arg4] [arg5]",
	"prctl option=1 arg2=ffff [arg3] [arg4] [arg5]",
	"prctl option=16 arg2=63 arg3=62 [arg4] [arg5]",
	"prctl option=23 arg2=63 arg3=62 arg4=1 arg5=2",
	"keyctl option=7 arg2=7fffffff [arg3] [arg4] [arg5]",
	"keyctl option=9 arg2=7fffffff arg3=7ffffffe [arg4] [arg5]",
	"semctl semid=ffffffff semnum=0 cmd=c [arg]",
	"semctl semid=ffffffff semnum=0 cmd=10 arg=5",
	"shmctl shmid=ffffffff cmd=0 [buf]",
	"shmctl shmid=ffffffff cmd=1 buf=1",
	"msgctl msqid=ffffffff cmd=0 [buf]",
	"ptrace request=10 pid=7fffffff [addr] [data]",
	"ptrace request=7 pid=7fffffff [addr] data=9",
	"ptrace request=1 pid=7fffffff addr=8 data=9",
	"clone clone_flags=10000 newsp=0 [parent_tidptr] [child_tidptr] [tls]",
	"clone clone_flags=1310000 newsp=0 parent_tidptr=5 child_tidptr=6 [tls]",
	"clone clone_flags=90000 newsp=0 [parent_tidptr] [child_tidptr] tls=7",
	"reboot magic1=1 magic2=2 cmd=a1b2c3d4 arg=5",
	"reboot magic1=1 magic2=2 cmd=1234567 [arg]",
	"membarrier cmd=40000000 flags=0 [cpu_id]",
	"membarrier cmd=40000000 flags=1 cpu_id=3",
	"kcmp pid1=7fffffff pid2=7fffffff type=1 [idx1] [idx2]",
	"kcmp pid1=7fffffff pid2=7fffffff type=0 idx1=3 idx2=4",
	"epoll_ctl epfd=ffffffff op=2 fd=1 [event]",
	"epoll_ctl epfd=ffffffff op=1 fd=1 event=5",
}

// Arguments that a call does not use are None, in both halves, though there is something in their registers. That a
// handler ends which computes with one is shown in cmd/startrace/testdata/sentences/semantics-events.md.
//
// > An argument that the call does not use is None: the third of `fcntl(fd, F_GETFD)`, the new address of `mremap`
// > without `MREMAP_FIXED`.
// > Programs leave rubbish there, too.
// > That is so for the calls of which C libraries can leave out arguments: `fcntl`, `ioctl` of the commands that all
// > files and terminals have, `mremap`, `futex`, `prctl`, `clone`, `ptrace`, `keyctl`, `semctl`, `shmctl`, `msgctl`,
// > `reboot`, `membarrier`, `kcmp` and `epoll_ctl`.
func TestUnusedArguments(t *testing.T) {
	needTracing(t)
	var work, want []string
	asked := map[string]bool{}
	var text strings.Builder
	for _, c := range unusedCalls {
		words := strings.Fields(c)
		sc, ok := kernel.SyscallByName(words[0])
		if !ok {
			continue
		}
		given, shows := argumentsOf(sc, words[1:])
		work = append(work, fmt.Sprintf("%d,%s", sc.Nr, strings.Join(given, ",")))
		for _, point := range []string{"syscall:", "tracepoint:syscalls:sys_enter_"} {
			want = append(want, point+words[0]+" "+strings.Join(shows, " "))
		}
		if !asked[words[0]] {
			asked[words[0]] = true
			text.WriteString(probesOf(sc))
		}
	}
	e, _ := traced(t, text.String(), nil, append([]string{"raw"}, work...)...)
	got := strings.Split(strings.TrimSpace(e.stdout), "\n")
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) && e.skipped(t) == 0 {
		differ := func(line string) bool { return slices.Contains(got, line) == slices.Contains(want, line) }
		t.Errorf("got %q\nwant %q\n%s", slices.DeleteFunc(slices.Clone(got), differ),
			slices.DeleteFunc(slices.Clone(want), differ), e.stderr)
	}
}

// argumentsOf are the words of a call in the order of this machine, and what the script shows of each: the value, and
// whether the kernel half finds it to be None.
func argumentsOf(sc *kernel.Syscall, list []string) (given, shows []string) {
	const left = 0x1badd00d // behind what is not used
	for _, a := range sc.Args() {
		for _, word := range list {
			name, value, ok := strings.Cut(word, "=")
			switch {
			case name == "["+a.Name+"]":
				given, shows = append(given, fmt.Sprintf("%x", left)), append(shows, "None/True")
			case ok && name == a.Name:
				show := value + "/False"
				if a.IsPtr && value == "0" {
					show = "None/True"
				}
				given, shows = append(given, value), append(shows, show)
			}
		}
	}
	return given, shows
}

// probesOf show the arguments of a call.
func probesOf(sc *kernel.Syscall) string {
	shown, tests, verbs := "", "", ""
	for _, a := range sc.Args() {
		shown += ", x(e.args." + a.Name + "), e." + a.Name
		tests += a.Name + " = e.args." + a.Name + " == None, "
		verbs += " %s/%s"
	}
	return fmt.Sprintf(`
def x(n): return "None" if n == None else sprintf("%%x", n)
probe(["syscall:%s", "tracepoint:syscalls:sys_enter_%s"], lambda e: printf("%%s%s\n", e.probe%s),
      kernel = lambda e: record(%s) if e.comm == "wl-raw"%s else None)
`, sc.Name, sc.Name, verbs, shown, tests, notOfGo[sc.Name])
}

// notOfGo tell the calls of the test from those that the run-time system of Go makes on the same thread.
var notOfGo = map[string]string{"futex": " and e.args.uaddr == 1", "clone": " and e.args.newsp == 0",
	"prctl": " and e.args.option != PR_SET_NAME"}
