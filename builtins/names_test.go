package builtins

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/kernel"
)

// A value has the name of each constant of the family that it may be: a name is never that of a constant of another set
// alone, which begins alike.
//
// > Constants of several sets can begin alike.
// > Then all names that the value can have stand there: `MS_ASYNC/MS_RDONLY`.
// > A longer beginning tells the sets apart where they have one.
func TestNamesAreNeverOfOthers(t *testing.T) {
	e := &Env{}
	tried := 0
	for _, c := range kernel.Constants("") {
		prefix, _, found := strings.Cut(c.Name, "_")
		if !found || !isName(c.Name) {
			continue
		}
		prefix += "_"
		for _, set := range ownSets {
			if strings.HasPrefix(c.Name, set) {
				prefix = set
			}
		}
		tried++
		text := e.namesOf(prefix)(uint64(c.Val))
		got := strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == '|' })
		if zero := c.Val == 0 && text == "0"; !slices.Contains(got, c.Name) && !zero {
			t.Errorf("names(%d, %q) is %s, and %s is not among them", c.Val, prefix, text, c.Name)
		}
	}
	if tried < 2500 {
		t.Errorf("%d constants were tried", tried)
	}
}

// What is asked for by its beginning is named by that set, and what many ask for by one name.
func TestNamesOfSets(t *testing.T) {
	e := &Env{}
	for _, one := range []struct {
		v            uint64
		family, want string
	}{
		{15, "PR_", "PR_SET_NAME"}, {15, "PR_SET_", "PR_SET_NAME"}, {14, "PR_SET_MM_", "PR_SET_MM_MAP"},
		{1, "CLOCK_", "CLOCK_MONOTONIC"}, {0, "CLOCK_", "CLOCK_REALTIME"},
		{1, "MS_", "MS_ASYNC/MS_RDONLY"}, {1 | 4096, "MS_", "MS_ASYNC/MS_RDONLY|MS_BIND"},
		{2, "F_SEAL_", "F_SEAL_SHRINK"}, {2, "F_", "F_SETFD/F_UNLCK"}, {0x4000, "MSG_", "MSG_COPY/MSG_NOSIGNAL"},
		{1, "EPOLL", "EPOLLIN"}, {1, "EPOLL_CTL_", "EPOLL_CTL_ADD"}, {0x10, "PTRACE_", "PTRACE_ATTACH"},
	} {
		if got := e.namesOf(one.family)(one.v); got != one.want {
			t.Errorf("names(%d, %q) is %s, want %s", one.v, one.family, got, one.want)
		}
	}
}

// The arguments of system calls are named by these families: those of lists name nothing by a sum, and those of flags
// have a name for each bit. What strace names, names() does.
func TestNamesOfArguments(t *testing.T) {
	e := &Env{}
	flags := "CLONE_ AT_ O_ PROT_ MAP_ MS_ MNT_ MSG_ FALLOC_FL_ FSPICK_ GRND_ IN_ KEXEC_ MCL_ MFD_ MOUNT_ATTR_ " +
		"MREMAP_ OPEN_TREE_ PIDFD_ PKEY_DISABLE_ RENAME_ RESOLVE_ RWF_ SECBIT_ SPLICE_F_ STATX_ STATMOUNT_ " +
		"SYNC_FILE_RANGE_ TFD_ XATTR_ ADJ_ MODULE_INIT_ SA_ IOSQE_ FAN_ EPOLL CLOSE_RANGE_ FUTEX2_ " +
		"LANDLOCK_ACCESS_FS_ SHM_ UFFDIO_REGISTER_MODE_"
	for family := range strings.FieldsSeq(flags) {
		f := newNameFamily(family, e.constantsOf(family))
		if len(f.flags) == 0 {
			t.Errorf("%s has no flags", family)
		}
		for _, one := range f.flags {
			for _, other := range f.flags {
				text := "|" + f.text(uint64(one.Val|other.Val)) + "|"
				if one.Val&other.Val == 0 &&
					(!strings.Contains(text, one.Name) || !strings.Contains(text, other.Name)) &&
					f.exact[one.Val|other.Val] == "" && strings.Contains(text, "0x") {
					t.Errorf("%s|%s is %s", one.Name, other.Name, text)
				}
			}
		}
	}
	lists := "POSIX_FADV_ MADV_ PRIO_ ITIMER_ SEEK_ SHUT_ SYSLOG_ACTION_ QFMT_ Q_ LINUX_REBOOT_CMD_ KEYCTL_ " +
		"KEY_SPEC_ ARCH_ IPPROTO_ AF_ SOL_ SIOC CLOCK_ RLIMIT_ EPOLL_CTL_ FUTEX_OP_ SO_ TCP_ IP_ NS_GET_ LOOP_ " +
		"MCAST_ P_ F_"
	for family := range strings.FieldsSeq(lists) {
		list := e.constantsOf(family)
		f := newNameFamily(family, list)
		if len(list) == 0 && !(family == "ARCH_" && runtime.GOARCH == "arm64") {
			t.Errorf("%s has no constants", family)
		}
		for v := range uint64(1 << 12) {
			if text := f.text(v); strings.Contains(text, "|") {
				t.Errorf("%s is a list, and %d is %s", family, v, text)
				break
			}
		}
	}
}

func TestNamesWithEnums(t *testing.T) {
	enum := func(name string) []kernel.EnumValue {
		all := []kernel.EnumValue{{Name: "MPOL_DEFAULT"}, {Name: "MPOL_PREFERRED", Val: 1}, {Name: "MPOL_BIND", Val: 2},
			{Name: "MPOL_INTERLEAVE", Val: 3}, {Name: "IORING_REGISTER_FILES", Val: 2}, {Name: "BPF_PROG_LOAD", Val: 5}}
		return slices.DeleteFunc(all, func(c kernel.EnumValue) bool { return !strings.HasPrefix(c.Name, name) })
	}
	e := &Env{Enum: enum}
	for _, one := range []struct {
		v            uint64
		family, want string
	}{
		{2, "MPOL_", "MPOL_BIND"}, {2 | 1<<15, "MPOL_", "MPOL_BIND|MPOL_F_STATIC_NODES"}, {0, "MPOL_", "MPOL_DEFAULT"},
		{2, "IORING_REGISTER_", "IORING_REGISTER_FILES"}, {5, "BPF_", "BPF_JMP/BPF_PSEUDO_MAP_IDX/BPF_PROG_LOAD"},
		{1 << 1, "POSIX_FADV_", "POSIX_FADV_SEQUENTIAL"}, {6, "POSIX_FADV_", "0x6"}, {3, "PRIO_", "0x3"},
		{2, "MNT_", "MNT_DETACH"}, {3, "FALLOC_FL_", "FALLOC_FL_KEEP_SIZE|FALLOC_FL_PUNCH_HOLE"},
		{0x22, "MAP_", "MAP_PRIVATE|MAP_ANONYMOUS"}, {1<<64 - 3, "KEY_SPEC_", "KEY_SPEC_SESSION_KEYRING"},
		{0x82, "FUTEX2_", "FUTEX2_SIZE_U32|FUTEX2_PRIVATE"},
	} {
		if got := e.namesOf(one.family)(one.v); got != one.want {
			t.Errorf("names(%d, %q) is %s, want %s", one.v, one.family, got, one.want)
		}
	}
}
