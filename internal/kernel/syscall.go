package kernel

import (
	_ "embed"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/startrace/startrace/internal/naming"
)

// System calls by names and numbers with their arguments, those that do not return (IsNoReturn) or return twice.

// A Syscall is a system call as the kernel defines it.
type Syscall struct {
	Nr   int
	Name string // the kernel's and its tracepoints' name: newstat
	ABI  string // the name in unistd.h: stat; mostly the same
	// Entry is the interface that the call belongs to: Nr is one of startrace's own numbers, see MaxSyscall.
	Entry SyscallABI
	// args are read when they are first asked for. Copies of the call share them.
	args *syscallArgs
}

// syscallArgs are the arguments of a call: as the table has them, and as read from there, once.
type syscallArgs struct {
	text string
	read sync.Once
	list []SyscallArg
}

// Args are the arguments in their order, six at most. They are shared: do not change them.
func (s *Syscall) Args() []SyscallArg {
	s.args.read.Do(func() { s.args.list = s.readArgs() })
	return s.args.list
}

// readArgs reads the text of the arguments: type name, type name …
func (s *Syscall) readArgs() []SyscallArg {
	if s.args.text == "" {
		return nil
	}
	args := make([]SyscallArg, 0, 1+strings.Count(s.args.text, ", "))
	for text := range strings.SplitSeq(s.args.text, ", ") {
		if s.Entry == EntryNative {
			args = append(args, parseSyscallArg(text))
		} else {
			args = append(args, parseCompatArg(text, s.Entry))
		}
	}
	markMode(s.Name, args)
	for _, name := range s.usesAs() {
		markUses(name, func() []*SyscallArg { return pointers(args) })
	}
	return args
}

// A SyscallArg is an argument of a system call.
type SyscallArg struct {
	// Name is the kernel's for it (SYSCALL_DEFINE), CType its type as the kernel writes it.
	Name, CType string
	Size        int // bytes of the C type; the register's upper part is not defined
	// Signed: it is a signed int.
	Signed bool
	// IsPtr: it is an address.
	IsPtr bool
	// IsString: a char * to text that ends in NUL. IsBuffer: a char * to bytes
	// whose number another argument or the result gives.
	IsString, IsBuffer bool
	IsStringList       bool // argv, envp: an array of char * that ends in NULL
	// Creating is, of a mode that the call uses only where it may create a file, 1 and the place of the argument with
	// the flags; 0 elsewhere. Without O_CREAT the kernel takes 0 for the mode (build_open_how, fs/open.c).
	Creating int
	// Use says when the call uses the argument, nil: always.
	Use *ArgumentUse
	// Narrow: programs of 32 bits have something else there: a list of pointers of 4 bytes, or a struct of another
	// layout.
	Narrow bool
}

// creatingFlags are the arguments that decide it.
var creatingFlags = map[string]string{"open": "flags", "openat": "flags", "mq_open": "oflag"}

// markMode notes which argument of a call is a mode that counts only where it creates a file.
func markMode(call string, args []SyscallArg) {
	at := slices.IndexFunc(args, func(a SyscallArg) bool { return a.Name == creatingFlags[call] })
	for i := range args {
		if at >= 0 && args[i].CType == "umode_t" {
			args[i].Creating = 1 + at
		}
	}
}

// IsNoReturn reports whether the call never gives an event at its exit. That
// of rt_sigreturn has the number -1 (restore_sigcontext sets orig_ax so), and
// its result is a register of the interrupted code. So it is with the calls of probes
// (arch/x86/kernel/uprobes.c sets orig_ax to -1), which end with their number only where they fail.
func (s *Syscall) IsNoReturn() bool {
	return s.Name == "exit" || s.Name == "exit_group" || s.Name == "rt_sigreturn" || s.Name == "sigreturn" ||
		s.IsOfProbes()
}

// Forks reports whether the call returns twice.
func (s *Syscall) Forks() bool {
	return slices.Contains([]string{"clone", "clone3", "fork", "vfork"}, s.Name)
}

// IsOfProbes reports whether it is no program's call: it stands in code that the kernel puts into traced programs, for
// probes at returns (uretprobe, from 6.11 on) and at instructions (uprobe, from 6.18 on). Patterns do not mean it.
func (s *Syscall) IsOfProbes() bool { return s.Name == "uretprobe" || s.Name == "uprobe" }

// syscallText is from Linux 7.2: the numbers from asm/unistd_64.h of both
// architectures, the arguments from the formats of tracefs (SYSCALL_DEFINE)
// and, where a kernel lacks the call, include/linux/syscalls.h. One line a call:
//
//	name[=name in unistd.h] number-on-amd64 number-on-arm64 type name, type name …
//
// with - for none and ! behind a char * that is no text.
//
//go:embed tables/syscalls.txt
var syscallText string

type syscallTable struct {
	list   []Syscall // by number
	others []Syscall // of other interfaces, by number
	byNr   map[int]int
	byName map[string]int // those of others lie behind the list
}

func (t *syscallTable) at(i int) *Syscall {
	if i >= len(t.list) {
		return &t.others[i-len(t.list)]
	}
	return &t.list[i]
}

var syscallTables = map[string]func() *syscallTable{
	"amd64": sync.OnceValue(func() *syscallTable { return parseSyscalls("amd64", 1) }),
	"arm64": sync.OnceValue(func() *syscallTable { return parseSyscalls("arm64", 2) }),
}

var noSyscalls syscallTable

func syscallsOf(arch string) *syscallTable {
	if get := syscallTables[arch]; get != nil {
		return get()
	}
	return &noSyscalls
}

func parseSyscalls(arch string, column int) *syscallTable {
	const all, names = 1000, 600 // rather more than there are, of all interfaces together
	t := &syscallTable{byNr: make(map[int]int, all), byName: make(map[string]int, names)}
	for line := range strings.Lines(syscallText) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 4)
		if len(words) < 3 || words[column] == "-" {
			continue
		}
		var s Syscall
		s.Nr, _ = strconv.Atoi(words[column]) // shipped text, checked by a test
		name, abi, differs := strings.Cut(words[0], "=")
		if s.Name, s.ABI = name, abi; !differs {
			s.ABI = name
		}
		s.args = &syscallArgs{text: strings.Join(words[3:], "")}
		t.list = append(t.list, s)
	}
	slices.SortFunc(t.list, func(a, b Syscall) int { return a.Nr - b.Nr })
	t.others = parseOtherCalls(arch)
	t.index()
	return t
}

// index finds the calls by number and by name. The kernel's names win, and native calls.
func (t *syscallTable) index() {
	for i, s := range t.list {
		t.byNr[s.Nr] = i
		t.byName[s.ABI] = i
	}
	for i, s := range t.list {
		t.byName[s.Name] = i
	}
	for _, name := range []func(*Syscall) string{func(s *Syscall) string { return s.Name },
		func(s *Syscall) string { return s.ABI }} {
		for i := range t.others {
			t.byNr[t.others[i].Nr] = len(t.list) + i
			if _, ok := t.byName[name(&t.others[i])]; !ok {
				t.byName[name(&t.others[i])] = len(t.list) + i
			}
		}
	}
}

func pointers(args []SyscallArg) (out []*SyscallArg) {
	for i := range args {
		out = append(out, &args[i])
	}
	return out
}

// asPassed are the structs that programs pass where the kernel's definition of a call still names those of Linux 2.2:
// shmctl and msgctl read and write the newer ones, whatever their prototypes say (copy_shmid_to_user, ipc/shm.c).
var asPassed = strings.NewReplacer("struct shmid_ds ", "struct shmid64_ds ", "struct msqid_ds ", "struct msqid64_ds ",
	"struct compat_shmid_ds ", "struct compat_shmid64_ds ", "struct compat_msqid_ds ", "struct compat_msqid64_ds ")

func parseSyscallArg(text string) SyscallArg {
	text, buffer := strings.CutSuffix(text, "!")
	at := strings.LastIndexByte(text, ' ')
	ctype := text[:max(at, 0)]
	if to, ok := strings.CutSuffix(ctype, "*const"); ok { // a pointer that does not change
		ctype = to + "*"
	}
	a := SyscallArg{Name: text[at+1:], CType: asPassed.Replace(ctype), IsBuffer: buffer}
	a.Size, a.Signed = scalarSize(a.CType)
	a.IsPtr = strings.HasSuffix(a.CType, "*") || strings.HasPrefix(plainC(a.CType), "cap_user_")
	a.IsString = !buffer && (a.CType == "char *" || a.CType == "const char *")
	a.IsStringList = strings.ReplaceAll(plainC(a.CType), " ", "") == "char*const*"
	return a
}

// A scalar is a type of C that fits in a register.
type scalar struct {
	size   int
	signed bool
}

// scalars are the types of arguments on a 64-bit kernel; TestSyscallScalars compares them with the kernel's own.
var scalars = map[string]scalar{
	"int": {4, true}, "pid_t": {4, true}, "key_t": {4, true}, "key_serial_t": {4, true}, "clockid_t": {4, true},
	"mqd_t": {4, true}, "timer_t": {4, true}, "rwf_t": {4, true}, "s32": {4, true}, "__s32": {4, true},
	"unsigned": {4, false}, "unsigned int": {4, false}, "uid_t": {4, false}, "gid_t": {4, false}, "qid_t": {4, false},
	"u32": {4, false}, "__u32": {4, false}, "umode_t": {2, false},
	"long": {8, true}, "loff_t": {8, true}, "off_t": {8, true},
	"unsigned long": {8, false}, "size_t": {8, false}, "u64": {8, false}, "__u64": {8, false},
	"aio_context_t": {8, false},
}

// plainC is a type without const in front.
func plainC(ctype string) string { return strings.TrimPrefix(ctype, "const ") }

// scalarSize gives the size of the types of arguments on a 64-bit kernel.
func scalarSize(ctype string) (size int, signed bool) {
	ctype = plainC(ctype)
	if t, ok := scalars[ctype]; ok {
		return t.size, t.signed
	}
	if strings.HasPrefix(ctype, "enum ") {
		return 4, false
	}
	return 8, false // pointers
}

// Syscalls gives the system calls of this architecture by number. They are
// shared: do not change them.
func Syscalls() []Syscall { return SyscallsFor(runtime.GOARCH) }

// SyscallsFor gives the system calls of an architecture by its GOARCH.
func SyscallsFor(arch string) []Syscall { return syscallsOf(orThis(arch)).list }

// SyscallByName finds a call by the kernel's name or that of unistd.h.
func SyscallByName(name string) (*Syscall, bool) {
	t := syscallsOf(runtime.GOARCH)
	i, ok := t.byName[name]
	if !ok {
		return nil, false
	}
	return t.at(i), true
}

// libraryNames are the names that C libraries and the manual have for calls whose name is another one in the kernel and
// in unistd.h. Some of them are names of calls that only programs of 32 bits make.
var libraryNames = map[string]string{
	"pread64": "pread", "pwrite64": "pwrite", "newfstatat": "fstatat", "prlimit64": "prlimit",
	"fadvise64":    "posix_fadvise",
	"fadvise64_64": "posix_fadvise",
	"rt_sigaction": "sigaction", "rt_sigprocmask": "sigprocmask", "rt_sigpending": "sigpending",
	"rt_sigsuspend": "sigsuspend", "rt_sigreturn": "sigreturn", "rt_sigtimedwait": "sigtimedwait", "wait4": "waitpid",
}

// matches reports whether a pattern means the call: by one of its names, or by that of C libraries where that is
// written out.
func (s *Syscall) matches(g naming.Glob, pattern string) bool {
	if s.IsOfProbes() {
		return pattern == s.Name
	}
	return g.Match(s.Name) || g.Match(s.ABI) || !strings.ContainsAny(pattern, "*?[") && g.Match(libraryNames[s.Name])
}

// MatchSyscalls gives the calls of this architecture one of whose names
// matches the glob, by number, and those of its other interfaces that have such a name
// or do the same. Calls of probes must be written out. A bad glob matches nothing.
func MatchSyscalls(glob string) []Syscall {
	g, err := naming.Compile(glob)
	if err != nil {
		return nil
	}
	var out []Syscall
	for _, s := range Syscalls() {
		if s.matches(g, glob) {
			out = append(out, s)
		}
	}
	return append(out, syscallsOf(runtime.GOARCH).matchOthers(g, out)...)
}

// NoCall stands for all numbers that are no C ints, and so are those of no system call. It is the least C int, which no
// call has either.
const (
	NoCall     = math.MinInt32
	noCallName = "syscall_?"
)

// CallNumber is n as names of calls are kept, in 32 bits.
func CallNumber(n int64) uint32 {
	if n != int64(int32(n)) {
		n = NoCall
	}
	return uint32(n)
}

// SyscallName gives the kernel's name of a number, "syscall_N" for a number
// that the table does not have.
func SyscallName(nr int) string {
	if nr == NoCall {
		return noCallName
	}
	t := syscallsOf(runtime.GOARCH)
	if i, ok := t.byNr[withoutX32(nr)]; ok {
		return t.at(i).Name
	}
	return "syscall_" + strconv.Itoa(nr)
}

// SyscallNames gives all names, for spelling hints.
func SyscallNames() []string {
	var out []string
	for _, s := range slices.Concat(Syscalls(), OtherSyscalls()) {
		out = append(out, s.Name)
		if s.ABI != s.Name {
			out = append(out, s.ABI)
		}
	}
	return out
}
