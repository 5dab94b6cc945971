package builtins

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/kernel"
)

// Each family of shipped constants is flags or an enumeration by a list, and in one list only.
func TestFamilyKinds(t *testing.T) {
	seen := map[string]int{}
	for key := range strings.FieldsSeq(enumerations + " " + flagFamilies) {
		seen[key]++
	}
	for key := range someFlags {
		seen[key]++
	}
	for key, n := range seen {
		if n > 1 {
			t.Errorf("%s is in %d lists", key, n)
		}
		if len(kernel.Constants(key)) == 0 && !ofTypes[key] {
			t.Errorf("no constant begins with %s", key)
		}
	}
	families := map[string]int{}
	for _, c := range kernel.Constants("") {
		family, _, parts := strings.Cut(c.Name, "_")
		if parts {
			family += "_"
		}
		families[family]++
	}
	for family, n := range families {
		if _, _, known := familyKind(family); !known && n > 1 {
			t.Errorf("%s of %d constants is in no list", family, n)
		}
	}
}

// ofTypes are families that the kernel's types have, or only those of another architecture.
var ofTypes = map[string]bool{"ARCH_": true, "IORING_OP_": true, "IORING_REGISTER_": true,
	"IORING_RESTRICTION_": true, "PERF_FORMAT_": true}

// What is no flags is named by one name, or is a number: no sum of names stands for a value.
//
// > A value of an enumeration that has no name is in hex, too: `names(99, "AF_")` is `0x63`.
// > 0 of flags is `0`, unless 0 is a value of its own, as `PROT_NONE`.
func TestNamesOfEnumerations(t *testing.T) {
	e := &Env{}
	for family := range strings.FieldsSeq(enumerations) {
		f := newNameFamily(family, e.constantsOf(family))
		for bit := range 63 {
			for v := range uint64(1 << 7) {
				if text := f.text(v + 1<<bit); strings.Contains(text, "|") {
					t.Fatalf("%s is an enumeration, and %d is %s", family, v+1<<bit, text)
				}
			}
		}
	}
	for family := range strings.FieldsSeq(flagFamilies) {
		f := newNameFamily(family, e.constantsOf(family))
		if got := f.text(0); got != "0" && len(f.fields) == 0 && !namedZeros[family] {
			t.Errorf("0 of the flags %s is %s", family, got)
		}
	}
	for _, one := range []struct {
		v            uint64
		family, want string
	}{
		{0, "RWF_", "0"}, {0, "AT_", "0"}, {0, "PROT_", "PROT_NONE"}, {0, "O_", "O_RDONLY"},
		{0, "TASK_", "TASK_RUNNING"},
		{42, "SEEK_", "0x2a"}, {3, "SHUT_", "0x3"}, {6, "SIGEV_", "0x6"}, {5, "RUSAGE_", "0x5"}, {15, "DT_", "0xf"},
		{8, "DT_", "DT_REG"}, {7, "EPOLL_CTL_", "0x7"}, {6, "P_", "0x6"}, {9, "CLD_", "0x9"}, {12, "IPC_", "0xc"},
		{0x3b6, "IPC_", "IPC_CREAT|0x1b6"}, {0x600, "IPC_", "IPC_CREAT|IPC_EXCL"}, {2, "IPC_", "IPC_STAT"},
		{9 | 128 | 256, "FUTEX_", "FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME"},
		{1 | 1<<30, "SCHED_", "SCHED_FIFO|SCHED_RESET_ON_FORK"}, {5, "POLL", "POLLIN|POLLOUT"},
		{3, "PR_SPEC_", "PR_SPEC_INDIRECT_BRANCH/PR_SPEC_PRCTL|PR_SPEC_ENABLE/PR_SPEC_L1D_FLUSH"},
	} {
		if got := e.namesOf(one.family)(one.v); got != one.want {
			t.Errorf("names(%d, %q) is %s, want %s", one.v, one.family, got, one.want)
		}
	}
}

// Of an enum of the kernel's types its values tell: those of flags are single bits, and sums of them.
//
// > An enum is one of flags if each of its values above 0 is one bit or a sum of such, they are no list (0 1 2, or 1 2
// > 3), and none is below -1.
func TestKindsOfEnums(t *testing.T) {
	list := func(vals ...int64) (out []kernel.EnumValue) {
		for i, v := range vals {
			out = append(out, kernel.EnumValue{Name: string(rune('A' + i)), Val: v})
		}
		return out
	}
	for _, one := range []struct {
		list []kernel.EnumValue
		v    uint64
		want string
	}{
		{list(1, 2, 4, 8), 5, "A|C"}, {list(1, 2, 4, 7), 6, "B|C"}, {list(0, 1, 2), 3, "0x3"},
		{list(1, 2, 3), 6, "0x6"}, {list(0, 1, 2, 4, 8, 0x31), 5, "0x5"}, {list(0, 1, 2, 4), 0, "A"},
		{list(1, 2, -3), 7, "0x7"}, {list(1, 2, 4, -1), 6, "B|C"}, {list(1, 2), 3, "A|B"},
	} {
		if got := newNameFamily("some_enum", one.list).text(one.v); got != one.want {
			t.Errorf("%d of %v is %s, want %s", one.v, one.list, got, one.want)
		}
	}
}
