package builtins

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/starlark/value"
)

// names(value, FAMILY): constants and enums as names, flags joined, modes of files; families of our own, as the states
// of TCP (`tcpStates`).

// A nameFamily is a set of constants that give names to values.
type nameFamily struct {
	// exact has the name of a value. Constants of several sets can begin alike (MS_RDONLY of mount, MS_ASYNC of
	// msync): of those which one is meant is not known, and all names stand there, "MS_ASYNC/MS_RDONLY".
	exact map[int64]string
	// flags are the values that may stand together, those with most bits first.
	flags []kernel.EnumValue
	// fields are the masks of several bits that hold a value of their own, as
	// O_ACCMODE: that has a name even if it is 0.
	fields []int64
	// together are the bits that flags can have; see familyKind.
	together int64
}

// bitFields are the fields in families of flags, by what their names begin
// with.
var bitFields = []struct {
	prefix string
	masks  []int64
}{
	{"O_", []int64{3}},               // O_ACCMODE
	{"S_", []int64{0o170000}},        // S_IFMT
	{"MAP_", []int64{0xf, 63 << 26}}, // MAP_TYPE, MAP_HUGE_MASK << MAP_HUGE_SHIFT
	{"SOCK_", []int64{0xf}},          // SOCK_TYPE_MASK
	{"MPOL_", []int64{0x1fff}},       // all but MPOL_MODE_FLAGS
	{"FUTEX2_", []int64{3}},          // FUTEX2_SIZE_MASK
	{"MFD_", []int64{63 << 26}},      // MFD_HUGE_MASK << MFD_HUGE_SHIFT
	{"SHM_", []int64{63 << 26}},
}

// withEnums are beginnings of names of which the kernel's types have some, as
// enumerators, and the shipped constants others, which C spells as macros.
var withEnums = []string{"BPF_", "IOPRIO_", "IORING_", "LANDLOCK_", "MPOL_", "NETLINK_", "PERF_"}

// ownSets are sets of constants that begin as those of another set do, and then have a beginning of their own: they
// are meant only where that is asked for.
var ownSets = []string{
	"CLOCK_DEFAULT", "CLOCK_EXT", "CLOCK_INT", "CLOCK_TX", // of serial lines (linux/hdlc/ioctl.h)
	"EPOLL_CTL_", "FS_IOC_", "FS_IOC32_", "FS_XFLAG_", "F_OWNER_", "F_SEAL_", "POLL_", "FUTEX_OP_", "FUTEX_ROBUST_",
	"IN_CLASS", "MPOL_F_ADDR", "MPOL_F_MEMS_ALLOWED", "MPOL_F_NODE", "MPOL_MF_", "SCHED_FLAG_", "SCHED_GETATTR_",
	"SO_VM_SOCKETS_",
	"PTRACE_EVENT", "PTRACE_PEEKSIGINFO_SHARED", "PTRACE_O_", "PTRACE_SYSCALL_INFO_", "PR_CAP_AMBIENT_", "PR_CFI_",
	"PR_ENDIAN_", "PR_FPEMU_", "PR_FP_EXC_", "PR_FP_MODE_", "PR_FUTEX_HASH_", "PR_MCE_KILL_CLEAR", "PR_MCE_KILL_SET",
	"PR_MCE_KILL_EARLY", "PR_MCE_KILL_LATE", "PR_MCE_KILL_DEFAULT", "PR_MDWE_", "PR_MTE_", "PR_PAC_AP",
	"PR_RSEQ_SLICE_EXT_", "PR_SHADOW_STACK_", "PR_TAGGED_ADDR_", "PR_THP_DISABLE_EXCEPT_", "PR_PPC_DEXCR_",
	"PR_RISCV_CTX_", "PR_RISCV_SCOPE_", "PR_RISCV_V_", "PR_SCHED_CORE_", "PR_SET_MM_", "PR_SET_VMA_", "PR_SPEC_",
	"PR_SVE_VL_", "PR_SME_VL_", "PR_SYS_DISPATCH_", "PR_TIMER_CREATE_", "PR_TIMING_", "PR_TSC_", "PR_UNALIGN_",
	"PIDFD_COREDUMP", "PIDFD_GET_", "PIDFD_INFO_", "PIDFD_SELF", "PIDFD_SIGNAL_", "SHM_NORESERVE",
	"SKB_DROP_REASON_SUBSYS_", "STATX_ATTR_", "TCP_ACCECN_", "TCP_AO_", "TCP_MD5SIG_",
	"TCP_RECEIVE_", "TCP_REPAIR_",
}

// ofOther reports whether a constant of a prefix belongs to a set with a longer one.
func ofOther(name, prefix string) bool {
	return slices.ContainsFunc(ownSets, func(set string) bool {
		return len(prefix) < len(set) && strings.HasPrefix(name, set)
	})
}

// noNames are constants that are a mask, or a second name of another one, or
// belong to another set that begins alike.
var noNames = map[string]bool{
	"CAP_LAST_CAP": true, "FUTEX_32": true, "FUTEX_PRIVATE_FLAG": true, "FUTEX_WAITV_MAX": true, "INADDR_NONE": true,
	"RTM_BASE": true, "SA_NOMASK": true, "SA_ONESHOT": true, "SEEK_MAX": true, "SECCOMP_RET_KILL": true,
	"SECCOMP_RET_ACTION": true, "SO_DETACH_BPF": true, "SO_GET_FILTER": true, "PACKET_FASTROUTE": true,
	"F_LINUX_SPECIFIC_BASE": true, "TIOCM_CD": true, "XATTR_CAPS_SZ_1": true, "XATTR_CAPS_SZ_2": true,
	"XATTR_CAPS_SZ_3": true, "TIOCM_RI": true,
	"AF_LOCAL": true, "AF_ROUTE": true, "PF_LOCAL": true, "PF_ROUTE": true, "IPPROTO_HOPOPTS": true,
	"MAP_ANON": true, "MAP_FILE": true, "MAP_TYPE": true, "O_ACCMODE": true, "O_NDELAY": true, "O_RSYNC": true,
	"S_IALLUGO": true, "S_IFMT": true, "S_IMA": true, "S_IMMUTABLE": true, "S_IRUGO": true, "S_IRWXUGO": true,
	"S_IWUGO": true, "S_IXUGO": true,
	"SOCK_RCVBUF_LOCK": true, "SOCK_SNDBUF_LOCK": true, "SOCK_TXREHASH_DEFAULT": true, "SOCK_TXREHASH_DISABLED": true,
	"SOCK_TXREHASH_ENABLED": true,
}

// tcpStates are the states of a connection (include/net/tcp_states.h), which
// BTF has in an enum without a name.
var tcpStates = []kernel.EnumValue{
	{Name: "TCP_ESTABLISHED", Val: 1}, {Name: "TCP_SYN_SENT", Val: 2}, {Name: "TCP_SYN_RECV", Val: 3},
	{Name: "TCP_FIN_WAIT1", Val: 4}, {Name: "TCP_FIN_WAIT2", Val: 5}, {Name: "TCP_TIME_WAIT", Val: 6},
	{Name: "TCP_CLOSE", Val: 7}, {Name: "TCP_CLOSE_WAIT", Val: 8}, {Name: "TCP_LAST_ACK", Val: 9},
	{Name: "TCP_LISTEN", Val: 10}, {Name: "TCP_CLOSING", Val: 11}, {Name: "TCP_NEW_SYN_RECV", Val: 12},
	{Name: "TCP_BOUND_INACTIVE", Val: 13},
}

// namesOf gives the function that names values of a family; nil if there is
// no such family.
func (e *Env) namesOf(family string) value.LabelFunc {
	if f, ok := e.families[family]; ok {
		return f
	}
	var f value.LabelFunc
	switch list := e.constantsOf(family); {
	case family == "mode":
		f = modeText
	case len(list) > 0:
		f = newNameFamily(family, list).text
	}
	if e.families == nil {
		e.families = make(map[string]value.LabelFunc)
	}
	e.families[family] = f
	return f
}

// constantsOf gives the constants of a family: shipped ones, or those that the
// kernel's types have. No enum is named as the shipped constants are spelled.
func (e *Env) constantsOf(family string) []kernel.EnumValue {
	switch family {
	case "":
		return nil
	case "tcp_state":
		return tcpStates
	}
	list := kernel.Constants(family)
	both := slices.ContainsFunc(withEnums, func(begin string) bool { return strings.HasPrefix(family, begin) })
	if e.Enum == nil || len(list) > 0 && !both {
		return list
	}
	for _, c := range e.Enum(strings.TrimPrefix(family, "enum ")) {
		if !slices.ContainsFunc(list, func(of kernel.EnumValue) bool { return of.Name == c.Name }) {
			list = append(list, c)
		}
	}
	return list
}

// newNameFamily sorts the constants of a prefix into those that are one bit, which may stand beside each other, and
// those that name a value as a whole.
func newNameFamily(prefix string, list []kernel.EnumValue) *nameFamily {
	f := &nameFamily{exact: make(map[int64]string)}
	for _, b := range bitFields {
		if strings.HasPrefix(prefix, b.prefix) {
			f.fields = b.masks
		}
	}
	for _, c := range list {
		if !isName(c.Name) || ofOther(c.Name, prefix) {
			continue
		}
		if first, second := f.exact[c.Val]; second {
			if strings.HasPrefix(c.Name, prefix) { // an enum's second name is one of the same thing
				f.exact[c.Val] = first + "/" + c.Name
			}
			continue
		}
		f.exact[c.Val] = c.Name
		if c.Val > 0 && !f.inField(c.Val) {
			f.flags = append(f.flags, c)
		}
	}
	for i, c := range f.flags {
		f.flags[i].Name = f.exact[c.Val]
	}
	var zero bool
	f.together, zero = f.kindOf(prefix, f.flags)
	f.flags = slices.DeleteFunc(f.flags, func(c kernel.EnumValue) bool { return c.Val&^f.together != 0 })
	if !zero && len(f.fields) == 0 {
		f.exact[0] = "0"
	}
	slices.SortStableFunc(f.flags, func(a, b kernel.EnumValue) int {
		return cmp.Compare(bits.OnesCount64(uint64(b.Val)), bits.OnesCount64(uint64(a.Val)))
	})
	return f
}

// kindOf is familyKind, of an enum of the kernel as its values tell: they are flags if each of them is one bit, or made
// of others that are, they are no list, 0 1 2, and none is negative but -1, which has all bits.
func (f *nameFamily) kindOf(family string, flags []kernel.EnumValue) (together int64, zero bool) {
	together, listed, known := familyKind(family)
	if known {
		return together, together != ^0 || namedZeros[listed]
	}
	single := int64(0)
	for _, c := range flags {
		if c.Val&(c.Val-1) == 0 {
			single |= c.Val
		}
	}
	for _, c := range flags {
		if c.Val&^single != 0 {
			return 0, true
		}
	}
	if f.counts() || f.exactBelow(-1) {
		return 0, true
	}
	return ^0, true
}

// exactBelow reports whether a value that has a name is less than v.
func (f *nameFamily) exactBelow(v int64) bool {
	for is := range f.exact {
		if is < v {
			return true
		}
	}
	return false
}

// counts reports whether the values are those of a list, of which most have one bit only because the list is so short:
// 0 1 2, or all from 1 to 3 or more.
func (f *nameFamily) counts() bool {
	highest := int64(0)
	for highest < int64(len(f.exact)) && f.exact[highest+1] != "" {
		highest++
	}
	for v := range f.exact {
		if v > highest && !f.inField(v) {
			return false
		}
	}
	return highest >= 3 || highest == 2 && f.exact[0] != ""
}

// isName reports whether a constant is the name of a value, and not a mask, a
// length or the end of a list.
func isName(name string) bool {
	for _, end := range []string{"_MASK", "_SHIFT", "_OLD", "_LEN", "_MAX", "_SZ", "_BITS", "_SIZE_VER0", "_SIZE_VER1",
		"_SIZE_VER2", "_SIZE_VER3"} {
		if strings.HasSuffix(name, end) && name != "QFMT_VFS_OLD" {
			return false
		}
	}
	return !noNames[name]
}

// inField reports whether a value lies within one of the fields of bits that have names of their own, as the access
// mode in the flags of open.
func (f *nameFamily) inField(v int64) bool {
	return slices.ContainsFunc(f.fields, func(mask int64) bool { return v&^mask == 0 })
}

// text is an exact match, else the bits, the rest in hex. A field is named by
// itself, before.
func (f *nameFamily) text(v uint64) string {
	var parts []string
	isInt := int64(v) < 0 && int64(v) >= math.MinInt32
	for _, mask := range f.fields {
		if name, ok := f.exact[int64(v)&mask]; ok {
			parts = append(parts, name)
			v &^= uint64(mask)
		}
	}
	if name, ok := f.exact[int64(v)]; ok && (v != 0 || len(parts) == 0) {
		return strings.Join(append(parts, name), "|")
	}
	flags := f.bits(&v)
	if name, ok := f.exact[int64(v)]; ok && v != 0 { // what the flags stand beside
		flags, v = append([]string{name}, flags...), 0
	}
	parts = append(parts, flags...)
	if isInt && len(f.flags) > 0 {
		v = uint64(uint32(v)) // the bits of a C int, which flags are
	}
	if v != 0 || len(parts) == 0 {
		parts = append(parts, rest(v, len(f.flags) > 0))
	}
	return strings.Join(parts, "|")
}

// bits takes the flags out of v and gives their names, the lowest first.
func (f *nameFamily) bits(v *uint64) (names []string) {
	var found []kernel.EnumValue
	for _, c := range f.flags {
		if w := uint64(c.Val); w&*v == w {
			found = append(found, c)
			*v &^= w
		}
	}
	slices.SortFunc(found, func(a, b kernel.EnumValue) int { return cmp.Compare(a.Val, b.Val) })
	for _, c := range found {
		names = append(names, c.Name)
	}
	return names
}

// rest is the text of what has no name: hexadecimal, but for 0 and for a negative value that is no sum of flags.
func rest(v uint64, flags bool) string {
	if v == 0 || !flags && int64(v) < 0 {
		return strconv.FormatInt(int64(v), 10)
	}
	return "0x" + strconv.FormatUint(v, 16)
}

// modeText gives permissions as ls shows them, after the kind of file if there
// is one.
func modeText(v uint64) string {
	kinds := map[uint64]string{0o140000: "s", 0o120000: "l", 0o100000: "-", 0o060000: "b", 0o040000: "d", 0o020000: "c",
		0o010000: "p"}
	b := []byte("rwxrwxrwx")
	for i := range b {
		if v>>(8-i)&1 == 0 {
			b[i] = '-'
		}
	}
	for i, set := range []string{"sS", "sS", "tT"} { // set-uid, set-gid, sticky
		if at := 3*i + 2; v>>(11-i)&1 != 0 && b[at] == 'x' {
			b[at] = set[0]
		} else if v>>(11-i)&1 != 0 {
			b[at] = set[1]
		}
	}
	return kinds[v&0o170000] + string(b)
}

// namesCall writes a number by the names of its constants: names(e.args.flags, "O_").
func namesCall(e *Env, c *call) (starlark.Value, error) {
	var n starlark.Int
	family := ""
	if err := c.unpack("v", &n, "family?", &family); err != nil {
		return nil, err
	}
	v, err := c.word(n)
	if err != nil {
		return nil, err
	}
	f := e.namesOf(family)
	switch {
	case f != nil:
		return starlark.String(f(v)), nil
	case family == "":
		return nil, fmt.Errorf(`names: here the family must be given: names(v, "O_")`)
	}
	return nil, fmt.Errorf(`names: got %q, want an enum of the kernel, the beginning of names of constants ("O_"), `+
		`"tcp_state" or "mode"`, family)
}

// namesLabel is the label of names() in a kernel half.
func (e *Env) namesLabel(family string) value.LabelFunc {
	if f := e.namesOf(family); f != nil {
		return f
	}
	return func(v uint64) string { return strconv.FormatInt(int64(v), 10) }
}
