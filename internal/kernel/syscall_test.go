package kernel

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestSyscallTables(t *testing.T) {
	line := regexp.MustCompile(`^[a-z0-9_]+(=[a-z0-9_]+)? (-|\d+) (-|\d+)( [a-zA-Z0-9_*, !]+)?$`)
	for l := range strings.Lines(syscallText) {
		if !line.MatchString(strings.TrimSuffix(l, "\n")) {
			t.Errorf("bad line %q", l)
		}
	}
	for arch, least := range map[string]int{"amd64": 380, "arm64": 320} {
		list := SyscallsFor(arch)
		if len(list) < least {
			t.Errorf("%s: only %d calls", arch, len(list))
		}
		for i := 1; i < len(list); i++ {
			if list[i].Nr <= list[i-1].Nr {
				t.Errorf("%s: number %d twice or out of order", arch, list[i].Nr)
			}
		}
	}
}

func TestSyscallOpenat(t *testing.T) {
	for arch, nr := range map[string]int{"amd64": 257, "arm64": 56} {
		i := slices.IndexFunc(SyscallsFor(arch), func(s Syscall) bool { return s.Name == "openat" })
		s := SyscallsFor(arch)[i]
		want := []SyscallArg{
			{Name: "dfd", CType: "int", Size: 4, Signed: true},
			{Name: "filename", CType: "const char *", Size: 8, IsPtr: true, IsString: true},
			{Name: "flags", CType: "int", Size: 4, Signed: true},
			{Name: "mode", CType: "umode_t", Size: 2, Creating: 3},
		}
		if s.Nr != nr || s.ABI != "openat" || !slices.Equal(s.Args(), want) {
			t.Errorf("%s: got %+v", arch, s)
		}
	}
}

func TestSyscallArgKinds(t *testing.T) {
	for text, want := range map[string]SyscallArg{
		"char * buf!": {Name: "buf", CType: "char *", Size: 8, IsPtr: true, IsBuffer: true},
		"const char *const * argv": {Name: "argv", CType: "const char *const *", Size: 8, IsPtr: true,
			IsStringList: true},
		"cap_user_data_t dataptr":       {Name: "dataptr", CType: "cap_user_data_t", Size: 8, IsPtr: true},
		"unsigned long len":             {Name: "len", CType: "unsigned long", Size: 8},
		"loff_t pos":                    {Name: "pos", CType: "loff_t", Size: 8, Signed: true},
		"enum landlock_rule_type rtype": {Name: "rtype", CType: "enum landlock_rule_type", Size: 4},
	} {
		if got := parseSyscallArg(text); got != want {
			t.Errorf("%s: got %+v", text, got)
		}
	}
}

func TestSyscallNames(t *testing.T) {
	for _, name := range []string{"uname", "newuname"} {
		if s, ok := SyscallByName(name); !ok || s.Name != "newuname" {
			t.Errorf("%s: got %+v, %v", name, s, ok)
		}
	}
	if s, ok := SyscallByName("nosuchcall"); ok {
		t.Errorf("got %+v", s)
	}
	s, _ := SyscallByName("openat2")
	if got := SyscallName(s.Nr); got != "openat2" {
		t.Errorf("got %s", got)
	}
	if got := SyscallName(99999); got != "syscall_99999" {
		t.Errorf("got %s", got)
	}
	var got []string
	for _, s := range MatchSyscalls("openat{,2}") {
		got = append(got, s.Name)
	}
	if !slices.Equal(got, []string{"openat", "openat2", "openat", "openat2"}) { // also of the 32-bit interface
		t.Errorf("got %v", got)
	}
	for call, wide := range map[string]string{"fstat": "fstat64", "mmap": "mmap2", "truncate": "truncate64",
		"getdents": "getdents64", "fcntl": "fcntl64", "fadvise64": "fadvise64_64", "futex": "futex_time64"} {
		is := func(s Syscall) bool { return strings.HasSuffix(s.Name, wide) }
		native := func(s Syscall) bool { return s.ABI == call }
		if !slices.ContainsFunc(Syscalls(), native) { // as getdents on arm64, which has only getdents64
			continue
		}
		if !slices.ContainsFunc(MatchSyscalls(call), is) {
			t.Errorf("%s: %s of programs of 32 bits is not among its calls", call, wide)
		}
	}
	// > `_llseek` has its offset in two arguments, so `syscall:lseek` does not mean it: write
	// > `syscall:{lseek,_llseek}`.
	for pattern, want := range map[string]bool{"lseek": false, "{lseek,_llseek}": true} {
		is := func(s Syscall) bool { return s.Name == "_llseek" }
		if got := slices.ContainsFunc(MatchSyscalls(pattern), is); got != want {
			t.Errorf("%s means _llseek: %v, want %v", pattern, got, want)
		}
	}
	for alias, name := range map[string]string{"pread": "pread64", "umount2": "umount", "fstatat": "newfstatat",
		"sigaction": "rt_sigaction", "{pread,nothing}": "pread64", "sendfile": "sendfile64", "waitpid": "wait4"} {
		if s := MatchSyscalls(alias); len(s) == 0 || s[0].Name != name {
			t.Errorf("%s: got %+v, want %s", alias, s, name)
		}
	}
	for call := range libraryNames {
		is := func(s Syscall) bool { return s.Name == call }
		if !slices.ContainsFunc(SyscallsFor("amd64"), is) && !slices.ContainsFunc(SyscallsFor("arm64"), is) {
			t.Errorf("there is no call %s", call)
		}
	}
	if s := MatchSyscalls("sigac*"); len(s) > 1 || len(s) == 1 && s[0].Entry == EntryNative {
		t.Errorf("got %+v, want none of this machine's own", s)
	}
	for name, want := range map[string]bool{"exit_group": true, "rt_sigreturn": true, "read": false} {
		if s, _ := SyscallByName(name); s.IsNoReturn() != want {
			t.Errorf("%s: IsNoReturn %v", name, !want)
		}
	}
}

// added are arguments that newer kernels put behind those of the table, which holds for all: what older ones have in
// these registers is not an argument.
var added = map[string][]string{
	"bpf": {"uattr_common", "size_common"}, // 7.2 has them, 6.18 not
}

// entries gives the tracepoints of this kernel's own calls by their names.
func entries(t *testing.T) map[string]*Tracepoint {
	needOurArch(t)
	f := Open(Options{})
	names, err := f.MatchTracepoints("syscalls", "sys_enter_*")
	if err != nil {
		t.Skip("needs tracefs, mounted or to be mounted by root, and the right to read it:", err)
	}
	if len(names) == 0 {
		t.Skip("needs tracepoints of system calls (CONFIG_FTRACE_SYSCALLS)")
	}
	out := map[string]*Tracepoint{}
	for _, n := range names {
		tp, err := f.Tracepoint(n.Group, n.Name)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimPrefix(n.Name, "sys_enter_")] = tp
	}
	return out
}

// The arguments of each call mean the same at its tracepoint, whose format has the C types, and in the table.
func TestSyscallArgumentsAgainstTracefs(t *testing.T) {
	for name, tp := range entries(t) {
		s, _ := SyscallByName(name)
		n := 0
		for _, field := range tp.Fields {
			if strings.HasPrefix(field.Name, "common_") || strings.HasPrefix(field.Name, "__") {
				continue
			}
			if field.Arg == nil {
				t.Errorf("%s: %s has no type", name, field.Name)
				continue
			}
			if n++; n > len(s.Args()) { // see added
				continue
			}
			got, want := *field.Arg, s.Args()[n-1]
			uses := []string{got.Use.String(), want.Use.String()}
			got.Name, got.CType, got.Use, want.Name, want.CType, want.Use = "", "", nil, "", "", nil
			if got != want || uses[0] != uses[1] {
				t.Errorf("%s: %s %s: got %+v, the table has %+v of %s", name, field.CType, field.Name, got, want,
					s.Args()[n-1].CType)
			}
		}
	}
}

// Sizes and signs of scalars against the kernel's own types, also of those that only its formats name.
func TestSyscallScalars(t *testing.T) {
	b, err := OpenBTF()
	if err != nil {
		t.Skip("needs BTF:", err)
	}
	names := map[string]bool{}
	for name := range scalars {
		names[name] = true
	}
	for _, tp := range entries(t) {
		for _, f := range tp.Fields {
			if f.Arg != nil && !f.Arg.IsPtr && !strings.HasPrefix(plainC(f.CType), "enum ") {
				names[plainC(f.CType)] = true
			}
		}
	}
	checked := 0
	for name := range names {
		id, ok := b.Named(KindTypedef, name)
		if !ok {
			continue // a word of C itself, or of a kernel with other types
		}
		real, err := b.Type(b.Skip(id))
		if err != nil {
			t.Fatal(err)
		}
		if size, signed := scalarSize(name); real.Kind == KindInt && (size != real.Size || signed != real.Signed) {
			t.Errorf("%s: %d bytes, signed %v; the kernel has %d, %v", name, size, signed, real.Size, real.Signed)
		}
		if _, ok := scalars[name]; !ok {
			t.Errorf("%s is not in the table", name)
		}
		checked++
	}
	if checked < 15 {
		t.Errorf("only %d typedefs were found", checked)
	}
}

// The shipped table against what this kernel says of its own calls.
func TestSyscallTableAgainstTracefs(t *testing.T) {
	for name, tp := range entries(t) {
		s, ok := SyscallByName(name)
		if !ok {
			t.Errorf("the table lacks %s", name)
			continue
		}
		if s.Name != name {
			t.Errorf("%s is %s in the table", name, s.Name)
		}
		var want, got []string
		for _, field := range tp.Fields {
			// 6.19 adds the text behind pointers as __NAME_val.
			if !strings.HasPrefix(field.Name, "common_") && !strings.HasPrefix(field.Name, "__") {
				want = append(want, field.Name)
			}
		}
		for _, a := range s.Args() {
			got = append(got, a.Name)
		}
		if more := added[name]; len(want) > len(more) && slices.Equal(want[len(want)-len(more):], more) {
			want = want[:len(want)-len(more)]
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has the arguments %v, want %v", name, got, want)
		}
	}
}
