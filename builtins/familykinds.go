package builtins

import "strings"

// Families of constants for names(): which are flags of which several are joined by a bar, which enumerations.
//
// A sum of flags is written A|B. A sum of the values of an enumeration means nothing: what has no name there is a
// number. Values alone do not tell the two apart (SIGEV_SIGNAL, _NONE, _THREAD and _THREAD_ID are 0, 1, 2 and 4, and
// an enumeration), so each family of shipped constants is in one of the lists below, by what its names begin with. The
// longest beginning counts: FAN_EVENT_INFO_TYPE_ is an enumeration among the flags FAN_.

// enumerations are the families of which a value has one name at most.
const enumerations = `AF_ ARCH_ ARPHRD_ AT_STATX_SYNC_ BLK BPF_ BTRFS_ BUS_ CAP_ CLD_ CLOCK_ CLONE_ARGS_ DT_ E
	EPOLL_CTL_ EPOLL_IOC_ ETH_ FAN_ERRNO_ FAN_EVENT_INFO_ FAN_RESPONSE_INFO_ FI FPE_ FS_IOC_ FS_IOC32_ FUTEX_OP_ F_
	GET GRPQUOTA ICMPV6_ ICMP_ ILL_ INADDR_ INT_ IN_CLASS IOPRIO_ IORING_OFF_ IORING_REGISTER_ IORING_OP_
	IORING_RESTRICTION_ IORING_TIMESTAMP_ IPPROTO_ IPV6_ IP_ ITIMER_ KEYCTL_ KEY_ LINUX_ LLONG_ LONG_ LOOP_ MADV_
	MCAST_ MINOR MNT_ID_ MS_MGC_ NETLINK_ NSEC_ NS_ PACKET_ PERF_ PERF_MEM_HOPS_ PERF_MEM_LVLNUM_ PERF_MEM_REGION_
	PIDFD_GET_ PIDFD_SELF PIDFD_INFO_SIZE_ POLL_ POSIX_ PRIO_ PRJQUOTA PR_ PTRACE_ P_ QFMT_ Q_ RLIMIT_ RND RTM_
	RTPROT_ RUSAGE_ S16_ S32_ S64_ S8_ SCHED_ATTR_ SCM_ SECCOMP_ SEEK_ SEGV_ SET SHRT_ SHUT_ SIG SIGEV_ SIG_ SIOC
	SIOCGSTAMPNS_ SIOCGSTAMP_ SI_ SOCK_TXREHASH_ SOL_ SO_ SYSLOG_ TC TCP_ TFD_IOC_ TIOC TRAP_ U32_ UDP_ UFFD_ USEC_
	USRQUOTA UTIME_ VMADDR_ XATTR_CAPS_ XATTR_NAME_`

// flagFamilies are those of which several names can stand together. Their 0 is "0".
const flagFamilies = `ADJ_ AT_ BPF_F_ CLONE_ CLOSE_ DN_ EFD_ EPOLL EPOLL_ FALLOC_ FAN_ FIEMAP_ FMODE_ FSPICK_ FS_
	FUTEX2_ FUTEX_ROBUST_ F_SEAL_ GRND_ IFF_ IN_ IOCB_ IORING_ IOSQE_ IPV6_FL_F_ IPV6_PREFER_SRC_ KEXEC_ KEYCTL_CAPS0_
	KEYCTL_CAPS1_ KEYCTL_SUPPORTS_ LANDLOCK_ LOCK_ MAP_ MAY_ MCL_ MFD_ MLOCK_ MNT_ MODULE_ MOUNT_ MOVE_ MPOL_ MREMAP_
	MSG_ MS_ NLM_ OPEN_ O_ PERF_AUX_FLAG_ PERF_FLAG_ PERF_FORMAT_ PERF_MEM_ PERF_RECORD_MISC_ PERF_SAMPLE_ PF_ PIDFD_
	PKEY_ POLL PROT_ PR_CFI_ PR_FPEMU_ PR_FP_EXC_ PR_FP_MODE_ PR_MDWE_ PR_MTE_ PR_PAC_AP PR_PPC_DEXCR_
	PR_SHADOW_STACK_ PR_SME_VL_ PR_SPEC_ PR_SVE_VL_ PR_TAGGED_ADDR_ PR_THP_DISABLE_EXCEPT_ PR_UNALIGN_ PTRACE_O_
	RENAME_ RESOLVE_ RTM_F_ RWF_ SA_ SCHED_FLAG_ SECBIT_ SECCOMP_ADDFD_FLAG_ SECCOMP_FILTER_FLAG_ SECCOMP_USER_NOTIF_
	SFD_ SHM_ SOCK_ SPLICE_ SS_ STATMOUNT_ STATX_ SYNC_ S_ TASK_ TCPHDR_ TCP_AO_KEYF_ TCP_MD5SIG_FLAG_ TFD_ TIOCM_
	TIOCPKT_ UFFDIO_ UFFD_FEATURE_ UFFD_PAGEFAULT_FLAG_ VM_ W XATTR_`

// someFlags are enumerations beside which some flags can stand: those bits.
var someFlags = map[string]int64{
	"FUTEX_":         1 << 8,    // FUTEX_CLOCK_REALTIME
	"IPC_":           7 << 9,    // IPC_CREAT, IPC_EXCL, IPC_NOWAIT, beside the permissions
	"PACKET_FANOUT_": 0xf << 12, // PACKET_FANOUT_FLAG_*
	"SCHED_":         1 << 30,   // SCHED_RESET_ON_FORK
	"SEM_":           1 << 12,   // SEM_UNDO
}

// namedZeros are the families of flags of which 0 has a name that says something.
var namedZeros = map[string]bool{"PROT_": true, "TASK_": true, "TIOCPKT_": true}

// familyKind tells of a family by the beginning of its names which bits can stand together: none of an enumeration,
// all of flags. known is false of what is not listed: an enum of the kernel's types.
func familyKind(family string) (together int64, listed string, known bool) {
	longest := func(key string, bits int64) {
		whole := strings.HasSuffix(key, "_") || !strings.Contains(family, "_") || key == "IN_CLASS"
		if whole && len(key) >= len(listed) && strings.HasPrefix(family, key) {
			together, listed, known = bits, key, true
		}
	}
	for key := range strings.FieldsSeq(enumerations) {
		longest(key, 0)
	}
	for key := range strings.FieldsSeq(flagFamilies) {
		longest(key, ^0)
	}
	for key, bits := range someFlags {
		longest(key, bits)
	}
	return together, listed, known
}
