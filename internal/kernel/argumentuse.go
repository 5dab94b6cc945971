package kernel

import (
	"fmt"
	"slices"
	"sync"
)

// Arguments of system calls that are used for some values of another one only, a row each.
//
// Some arguments of system calls are used for some values of another one only: programs that do not give them leave in
// their registers what was there before.

// An ArgumentUse says when a call uses an argument: where the bits Mask of the argument Selector are one of Only, or
// none of Except, or, where neither is given, not all 0.
type ArgumentUse struct {
	Selector     int
	Mask         uint64 // 0: all bits
	Only, Except []Range
}

// A Range is a range of values, From and To among them.
type Range struct{ From, To uint64 }

func (u *ArgumentUse) String() string {
	if u == nil {
		return ""
	}
	return fmt.Sprint(*u)
}

// A callUse says when call uses one of its arguments. Names are the kernel's, as in the table of system calls.
type callUse struct {
	call, argument, selector string
	use                      ArgumentUse
}

// argumentUses has the calls with such arguments.
var argumentUses = []callUse{
	// fs/fcntl.c: F_GETFD, F_GETFL, F_GETOWN, F_GETSIG, F_GETLEASE, F_CREATED_QUERY, F_GETPIPE_SZ, F_GET_SEALS
	{"fcntl", "arg", "cmd", ArgumentUse{Except: values(1, 3, 9, 11, 1025, 1028, 1032, 1034)}},
	// fs/ioctl.c, drivers/tty: FIONCLEX, FIOCLEX, TIOCEXCL, TIOCNXCL, TIOCNOTTY, TIOCSBRK, TIOCCBRK, TIOCVHANGUP,
	// FIFREEZE, FITHAW
	{"ioctl", "arg", "cmd", ArgumentUse{Except: values(0x5450, 0x5451, 0x540c, 0x540d, 0x5422, 0x5427, 0x5428, 0x5437,
		0xc0045877, 0xc0045878)}},
	// mm/mremap.c: MREMAP_FIXED, MREMAP_DONTUNMAP
	{"mremap", "new_addr", "flags", ArgumentUse{Mask: 2 | 4}},
	// kernel/futex/syscalls.c: FUTEX_WAIT 0, WAKE 1, REQUEUE 3, CMP_REQUEUE 4, WAKE_OP 5, LOCK_PI 6, UNLOCK_PI 7,
	// TRYLOCK_PI 8, WAIT_BITSET 9, WAKE_BITSET 10, WAIT_REQUEUE_PI 11, CMP_REQUEUE_PI 12, LOCK_PI2 13
	{"futex", "val", "op", ArgumentUse{Mask: futexCommand, Except: values(6, 7, 8, 13)}},
	{"futex", "utime", "op", ArgumentUse{Mask: futexCommand, Except: values(1, 7, 8, 10)}},
	{"futex", "uaddr2", "op", ArgumentUse{Mask: futexCommand, Except: values(0, 1, 6, 7, 8, 9, 10, 13)}},
	{"futex", "val3", "op", ArgumentUse{Mask: futexCommand, Except: values(0, 1, 3, 6, 7, 8, 11, 13)}},
	// kernel/fork.c: CLONE_PIDFD, CLONE_PARENT_SETTID; CLONE_CHILD_CLEARTID, CLONE_CHILD_SETTID; CLONE_SETTLS
	{"clone", "parent_tidptr", "clone_flags", ArgumentUse{Mask: 0x1000 | 0x100000}},
	{"clone", "child_tidptr", "clone_flags", ArgumentUse{Mask: 0x200000 | 0x1000000}},
	{"clone", "tls", "clone_flags", ArgumentUse{Mask: 0x80000}},
	// ipc: IPC_RMID 0, GETPID 11, GETVAL 12, GETNCNT 14, GETZCNT 15; SHM_LOCK 11, SHM_UNLOCK 12
	{"semctl", "arg", "cmd", ArgumentUse{Except: values(0, 11, 12, 14, 15)}},
	{"shmctl", "buf", "cmd", ArgumentUse{Except: values(0, 11, 12)}},
	{"msgctl", "buf", "cmd", ArgumentUse{Except: values(0)}},
	// kernel/ptrace.c: TRACEME 0, KILL 8, ATTACH 16, INTERRUPT 0x4207, LISTEN 0x4208; also without an address CONT 7,
	// SINGLESTEP 9, DETACH 17, SYSCALL 24, SETOPTIONS, GETEVENTMSG, GETSIGINFO, SETSIGINFO 0x4200 to 0x4203
	{"ptrace", "pid", "request", ArgumentUse{Except: values(0)}},
	{"ptrace", "addr", "request", ArgumentUse{Except: values(0, 7, 8, 9, 16, 17, 24, 0x4200, 0x4201, 0x4202, 0x4203,
		0x4207, 0x4208)}},
	{"ptrace", "data", "request", ArgumentUse{Except: values(0, 8, 16, 0x4207, 0x4208)}},
	// kernel/sys.c: those that take nothing, one argument, two
	{"prctl", "arg2", "option", ArgumentUse{Except: prctlNone}},
	{"prctl", "arg3", "option", ArgumentUse{Except: slices.Concat(prctlNone, prctlOne)}},
	{"prctl", "arg4", "option", ArgumentUse{Except: slices.Concat(prctlNone, prctlOne, values(22))}},
	{"prctl", "arg5", "option", ArgumentUse{Except: slices.Concat(prctlNone, prctlOne, values(22))}},
	// security/keys/keyctl.c: the number of arguments that each operation takes
	{"keyctl", "arg2", "option", ArgumentUse{Except: values(18)}},
	{"keyctl", "arg3", "option", ArgumentUse{Except: values(1, 3, 7, 14, 16, 18, 21)}},
	{"keyctl", "arg4", "option", ArgumentUse{Except: values(0, 1, 3, 5, 7, 8, 9, 14, 15, 16, 18, 21, 22)}},
	{"keyctl", "arg5", "option", ArgumentUse{Except: values(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 14, 15, 16, 17, 18,
		21, 22)}},
	{"reboot", "arg", "cmd", ArgumentUse{Only: values(0xa1b2c3d4)}}, // LINUX_REBOOT_CMD_RESTART2
	{"membarrier", "cpu_id", "flags", ArgumentUse{Mask: 1}},         // MEMBARRIER_CMD_FLAG_CPU
	{"kcmp", "idx1", "type", ArgumentUse{Except: []Range{{1, 6}}}},  // KCMP_VM to KCMP_SYSVSEM
	{"kcmp", "idx2", "type", ArgumentUse{Except: []Range{{1, 6}}}},  //
	{"epoll_ctl", "event", "op", ArgumentUse{Except: values(2)}},    // EPOLL_CTL_DEL
}

// futexCommand are the bits of op without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME.
const futexCommand = 127

var (
	prctlNone = []Range{{3, 3}, {7, 7}, {13, 13}, {21, 21}, {27, 27}, {30, 32}}
	prctlOne  = []Range{{1, 2}, {4, 6}, {8, 12}, {14, 16}, {19, 20}, {23, 26}, {28, 29}, {36, 37}, {40, 40}}
)

// values are ranges of one value each; neighbours are one range.
func values(list ...uint64) (out []Range) {
	for _, v := range list {
		if n := len(out); n > 0 && out[n-1].To+1 == v {
			out[n-1].To = v
			continue
		}
		out = append(out, Range{v, v})
	}
	return out
}

// usesOf are argumentUses by their calls.
var usesOf = sync.OnceValue(func() map[string][]callUse {
	out := map[string][]callUse{}
	for _, u := range argumentUses {
		out[u.call] = append(out[u.call], u)
	}
	return out
})

// markUses notes which arguments of a call are used only for some values of another one.
func markUses(call string, args func() []*SyscallArg) {
	uses := usesOf()[call]
	if len(uses) == 0 {
		return
	}
	list := args()
	place := func(name string) int {
		return slices.IndexFunc(list, func(a *SyscallArg) bool { return a.Name == name })
	}
	for _, u := range uses {
		at, selector := place(u.argument), place(u.selector)
		if at < 0 || selector < 0 {
			continue
		}
		use := u.use
		use.Selector = selector
		list[at].Use = &use
	}
}
