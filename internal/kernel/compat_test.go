package kernel

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func otherCall(t *testing.T, arch string, nr int) *Syscall {
	t.Helper()
	tab := syscallsOf(arch)
	i, ok := tab.byNr[nr]
	if !ok {
		t.Fatalf("%s has no call %d", arch, nr)
	}
	return tab.at(i)
}

// Numbers of which the kernel's tables are known (arch/x86/entry/syscalls/syscall_32.tbl,
// arch/arm64/tools/syscall_32.tbl).
func TestCompatTables(t *testing.T) {
	line := regexp.MustCompile(`^[a-z0-9_]+(=[a-z0-9_]+)? (-|\d+) (-|\d+) (-|\d+)( [a-zA-Z0-9_*, !]+)?$`)
	for l := range strings.Lines(compatText) {
		if !line.MatchString(strings.TrimSuffix(l, "\n")) && !strings.HasSuffix(l, " -\n") {
			t.Errorf("bad line %q", l)
		}
	}
	for arch, calls := range map[string]map[int]string{
		"amd64": {CompatBase + 5: "open", CompatBase + 295: "openat", CompatBase + 108: "newfstat", CompatBase +
			197: "fstat64", CompatBase + 22: "oldumount",
			CompatBase + 52: "umount", CompatBase + 90: "old_mmap", CompatBase + 182: "chown", CompatBase +
				212: "chown", 520: "execve", 545: "execveat"},
		"arm64": {CompatBase + 5: "open", CompatBase + 322: "openat", CompatBase + 11: "execve", CompatBase +
			192: "mmap2", CompatBase + 498: "cacheflush", CompatBase + 501: "set_tls"},
	} {
		for nr, name := range calls {
			if s := otherCall(t, arch, nr); s.Name != name {
				t.Errorf("%s: %d is %s, want %s", arch, nr, s.Name, name)
			}
		}
		seen := map[int]bool{}
		for _, s := range syscallsOf(arch).others {
			if seen[s.Nr] || s.Nr < TableSize || s.Nr >= MaxSyscall || s.Entry == EntryNative {
				t.Errorf("%s: %+v", arch, s)
			}
			seen[s.Nr] = true
		}
		if len(seen) < 400 {
			t.Errorf("%s: only %d calls", arch, len(seen))
		}
	}
}

// The numbers are those that Go's own tables and the C library's headers have, where these are on the machine.
func TestCompatNumbersAgainstHeaders(t *testing.T) {
	goroot, _ := exec.Command("go", "env", "GOROOT").Output()
	source := filepath.Join(strings.TrimSpace(string(goroot)), "src/syscall/zsysnum_linux_")
	goLine, cLine := regexp.MustCompile(`(?m)^\s+SYS_(\w+)\s+= (\d+)$`),
		regexp.MustCompile(`(?m)^#define __NR_(\w+) (\d+)$`)
	x32Line := regexp.MustCompile(`(?m)^#define __NR_(\w+) \(__X32_SYSCALL_BIT \+ (5\d\d)\)$`)
	ran := false
	for _, from := range []struct {
		file, arch string
		line       *regexp.Regexp
		base       int
	}{
		{source + "386.go", "amd64", goLine, CompatBase}, {source + "arm.go", "arm64", goLine, CompatBase},
		{"/usr/include/x86_64-linux-gnu/asm/unistd_32.h", "amd64", cLine, CompatBase},
		{"/usr/include/x86_64-linux-gnu/asm/unistd_x32.h", "amd64", x32Line, 0},
	} {
		text, err := os.ReadFile(from.file)
		if err != nil {
			continue
		}
		ran = true
		found := from.line.FindAllStringSubmatch(string(text), -1)
		if len(found) < 30 {
			t.Errorf("%s: only %d numbers", from.file, len(found))
		}
		byName := map[string]int{}
		for _, s := range syscallsOf(from.arch).others {
			if (s.Entry == EntryX32) != (from.line == x32Line) {
				continue
			}
			byName[unistdName(s.Nr, from.arch)] = s.Nr
		}
		for _, m := range found {
			name := strings.ToLower(m[1])
			want, _ := strconv.Atoi(m[2])
			if slices.Contains(noCalls[from.arch], name) {
				continue
			}
			if got, ok := byName[name]; !ok || got != want+from.base {
				t.Errorf("%s: %s is %d, the table has %d, %v", from.file, name, want, got-from.base, ok)
			}
		}
	}
	if !ran {
		t.Skip("needs Go or the headers of the C library on this machine")
	}
}

// noCalls are names in these files that are no calls of the kernel's table: other names, and what EABI programs do not
// have.
var noCalls = map[string][]string{
	"amd64": {"madvise1"},
	"arm64": {"oabi_syscall_base", "syscall_base", "time", "umount", "stime", "alarm", "utime", "getrlimit", "select",
		"readdir", "mmap", "socketcall",
		"syscall", "ipc"},
}

// unistdName is the name of a call in unistd.h.
func unistdName(nr int, arch string) string {
	tab := syscallsOf(arch)
	return tab.at(tab.byNr[nr]).ABI
}

// Where arguments are, as the kernel's own entry points have it (arch/x86/kernel/sys_ia32.c,
// arch/arm64/kernel/sys32.c).
func TestCompatPlaces(t *testing.T) {
	one := func(r int) Place { return Place{Register: r} }              // int, and what is no larger
	half := func(r int) Place { return Place{Register: r, Half: true} } // long, size_t, a pointer
	pair := func(r int) Place { return Place{Register: r, Wide: true} } // loff_t
	for _, tt := range []struct {
		arch string
		nr   int
		want []Place
	}{
		{"amd64", CompatBase + 180, []Place{one(0), half(1), half(2), pair(3)}}, // pread64
		{"arm64", CompatBase + 180, []Place{one(0), half(1), half(2), pair(4)}},
		{"amd64", CompatBase + 193, []Place{half(0), pair(1)}}, // truncate64
		{"arm64", CompatBase + 193, []Place{half(0), pair(2)}},
		{"amd64", CompatBase + 314, []Place{one(0), pair(1), pair(3), one(5)}}, // sync_file_range
		{"arm64", CompatBase + 341, []Place{one(0), one(1), pair(2), pair(4)}},
		{"amd64", CompatBase + 339, []Place{one(0), one(1), pair(2), one(4), half(5)}}, // fanotify_mark
		{"arm64", CompatBase + 368, []Place{one(0), one(1), pair(2), one(4), half(5)}},
		{"amd64", CompatBase + 324, []Place{one(0), one(1), pair(2), pair(4)}},
		// fallocate
		{"amd64", CompatBase + 250, []Place{one(0), pair(1), half(3), one(4)}},
		// fadvise64
		{"arm64", CompatBase + 225, []Place{one(0), pair(2), half(4)}},
		// readahead
		{"amd64", CompatBase + 192, []Place{half(0), half(1), half(2), half(3), half(4),
			{Register: 5, Half: true, Shift: 12}}}, // mmap2
		{"amd64", 546, []Place{half(0), half(1), half(2), one(3), one(-1), one(4)}},
		// preadv2 of x32
		{"amd64", 0, []Place{one(0), one(1), one(2)}},
		// read
	} {
		s := otherCall(t, tt.arch, tt.nr)
		var got []Place
		for i := range s.Args() {
			got = append(got, s.placeFor(tt.arch, i))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s %s: got %v, want %v", tt.arch, s.Name, got, tt.want)
		}
	}
	for _, arch := range []string{"amd64", "arm64"} {
		for _, s := range syscallsOf(arch).others {
			for i := range s.Args() {
				if p := s.placeFor(arch, i); p.Register > 5 || p.Wide && p.Register > 4 {
					t.Errorf("%s %s: argument %d is in register %d", arch, s.Name, i, p.Register)
				}
			}
		}
	}
}

// A probe of a call has those of the other interfaces that do the same, and none that lacks an argument.
func TestCompatMatches(t *testing.T) {
	for glob, want := range map[string]map[string][]int{
		"openat": {"amd64": {257, CompatBase + 295}, "arm64": {56, CompatBase + 322}},
		"newfstat": {"amd64": {5, CompatBase + 108, CompatBase + 197},
			"arm64": {80, CompatBase + 108, CompatBase + 197}},
		"open":   {"amd64": {2, CompatBase + 5}, "arm64": {CompatBase + 5}},
		"execve": {"amd64": {59, 520, CompatBase + 11}, "arm64": {221, CompatBase + 11}},
		"mmap":   {"amd64": {9, CompatBase + 192}, "arm64": {222, CompatBase + 192}},
		"umount": {"amd64": {166, CompatBase + 52}, "arm64": {39, CompatBase + 52}},
		"futex": {"amd64": {202, CompatBase + 240, CompatBase + 422},
			"arm64": {98, CompatBase + 240, CompatBase + 422}},
		"lseek": {"amd64": {8, CompatBase + 19}, "arm64": {62, CompatBase + 19}},
	} {
		var got []int
		for _, s := range MatchSyscalls(glob) {
			got = append(got, s.Nr)
		}
		if !slices.Equal(got, want[runtime.GOARCH]) {
			t.Errorf("%s: got %v, want %v", glob, got, want[runtime.GOARCH])
		}
	}
}

// The number of a name is one, and the least.
func TestNameNumbers(t *testing.T) {
	for nr := range MaxSyscall {
		n := NameNumber(nr)
		if n > nr || SyscallName(n) != SyscallName(nr) || NameNumber(n) != n {
			t.Errorf("%d %s has the number %d, %s", nr, SyscallName(nr), n, SyscallName(n))
		}
	}
	names := map[string]int{}
	for nr := range MaxSyscall {
		if first, ok := names[SyscallName(nr)]; ok && NameNumber(nr) != first {
			t.Errorf("%s is %d and %d", SyscallName(nr), first, NameNumber(nr))
		} else if !ok {
			names[SyscallName(nr)] = nr
		}
	}
}

// ofBothWidths are types with a long or a pointer that have one layout for programs of both widths: sets of bits, which
// are the same bits in words of either width, and typedefs of pointers to numbers of 32 bits. The cache of getcpu is
// read by no kernel since Linux 2.6.24.
var ofBothWidths = []string{"fd_set", "sigset_t", "cap_user_header_t", "cap_user_data_t", "struct getcpu_cache"}

// What arguments of calls of 32 bits point to has the layout of such programs: no long and no pointer of 64 bits.
func TestCompatPointedTo(t *testing.T) {
	b, err := OpenBTF()
	if err != nil {
		t.Skip("needs a kernel with types (CONFIG_DEBUG_INFO_BTF):", err)
	}
	checked := 0
	for _, s := range OtherSyscalls() {
		for _, a := range s.Args() {
			to := strings.TrimSpace(strings.TrimSuffix(plainC(a.CType), "*"))
			if id, ok := b.Spelled(to); a.IsPtr && !a.IsStringList && ok && !slices.Contains(ofBothWidths, to) {
				checked++
				if wide := wideMember(t, b, id); wide != "" {
					t.Errorf("%s: %s points to %s, which has %s", s.Name, a.Name, to, wide)
				}
			}
		}
	}
	if checked < 300 {
		t.Errorf("only %d arguments were checked", checked)
	}
}

// wideMember finds a pointer, or a long of C, in a type.
func wideMember(t *testing.T, b *BTF, id TypeID) string {
	t.Helper()
	typ, err := b.Type(b.Skip(id))
	if err != nil {
		t.Fatal(err)
	}
	switch typ.Kind {
	case KindPtr:
		return "a pointer"
	case KindInt:
		if typ.Size == 8 && !strings.Contains(typ.Name, "long long") {
			return typ.Name
		}
	case KindArray:
		return wideMember(t, b, typ.Elem)
	case KindStruct, KindUnion:
		for _, m := range typ.Members {
			if wide := wideMember(t, b, m.Type); wide != "" {
				return wide + " in " + m.Name
			}
		}
	}
	return ""
}
