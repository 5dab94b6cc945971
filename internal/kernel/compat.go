package kernel

import (
	_ "embed"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/startrace/startrace/internal/naming"
)

// System calls of programs of 32 bits and of x32: numbers, arguments, names.

// A SyscallABI is the interface by which a program makes a system call. Each has its own table of numbers and its own
// registers.
type SyscallABI uint8

const (
	EntryNative SyscallABI = iota // of 64 bits
	// EntryCompat is the interface of 32 bits: int 0x80, sysenter and AArch32.
	EntryCompat
	// EntryX32 are the calls that x32 has for itself. The others are those of 64 bits.
	EntryX32
)

// The numbers by which startrace knows system calls. A native call has its own, below TableSize, and so have those that
// x32 has for itself, below X32Size. A call of the 32-bit interface has its own and CompatBase; the last Extras of
// these are the calls that arm has from CompatExtras on (__ARM_NR_BASE).
const (
	TableSize    = 512
	X32Size      = 548
	CompatBase   = 1024
	MaxSyscall   = 2048    // all are below; a power of two
	X32Bit       = 1 << 30 // in the numbers of x32 (__X32_SYSCALL_BIT)
	CompatExtras = 0xf0000
	Extras       = 16
	firstExtra   = TableSize - Extras
)

// compatText are the system calls of the other interfaces, a line each:
//
//	name[=the kernel's name] number-on-i386 number-on-arm number-on-x32 type name, type name …
//
// with - for none. Names and numbers are those of unistd.h (arch/x86/entry/syscalls/syscall_32.tbl, syscall_64.tbl,
// arch/arm64/tools/syscall_32.tbl). The types are those of programs of 32 bits: a long, a size_t and a pointer are the
// lower half of a register, a loff_t is in two. pages is a number of pages of 4096 bytes.
//
//go:embed tables/compat.txt
var compatText string

type compatColumn struct {
	arch   string
	column int
	entry  SyscallABI
	base   int
}

var compatColumns = []compatColumn{{"amd64", 1, EntryCompat, CompatBase}, {"arm64", 2, EntryCompat, CompatBase},
	{"amd64", 3, EntryX32, 0}}

// parseOtherCalls gives the calls of an architecture's other interfaces, by number.
func parseOtherCalls(arch string) []Syscall {
	var out []Syscall
	for _, col := range compatColumns {
		if col.arch != arch {
			continue
		}
		for line := range strings.Lines(compatText) {
			if words := strings.SplitN(strings.TrimSpace(line), " ", 5); words[col.column] != "-" {
				out = append(out, parseOtherCall(words, col))
			}
		}
	}
	slices.SortFunc(out, func(a, b Syscall) int { return a.Nr - b.Nr })
	return out
}

func parseOtherCall(words []string, col compatColumn) Syscall {
	nr, _ := strconv.Atoi(words[col.column]) // shipped text, checked by a test
	if nr >= CompatExtras {
		nr += firstExtra - CompatExtras
	}
	name, shown, differs := strings.Cut(words[0], "=")
	s := Syscall{Nr: nr + col.base, Name: name, ABI: name, Entry: col.entry}
	if differs {
		s.Name = shown
	}
	s.args = &syscallArgs{text: strings.Join(words[4:], "")}
	return s
}

// usesAs are the names under which argumentUses may have the call: its own, and that of the call which it does for
// programs of another interface.
func (s *Syscall) usesAs() []string {
	if s.Entry == EntryNative {
		return []string{s.Name}
	}
	return []string{s.Name, strings.TrimSuffix(strings.TrimSuffix(s.Name, "_time64"), "64")}
}

// Pages is the C type, in the table, of an argument that is a number of pages in the call, and of bytes in e.args.
const Pages = "pages"

// compatScalars are the types that only programs of 32 bits have, and pages.
var compatScalars = map[string]scalar{
	"old_uid_t": {2, false}, "old_gid_t": {2, false}, "old_sigset_t": {4, false}, Pages: {8, false},
}

// compatStructs are the what the names of structs begin with that programs of 32 bits have in the place of others.
var compatStructs = []string{"compat_", "old_", "__compat_", "stat64 ", "mmap_arg_struct32 "}

func hasCompatStruct(ctype string) bool {
	_, tag, ok := strings.Cut(ctype, "struct ")
	return ok && slices.ContainsFunc(compatStructs, func(s string) bool { return strings.HasPrefix(tag, s) })
}

func parseCompatArg(text string, entry SyscallABI) SyscallArg {
	if entry == EntryX32 { // which has the times of 64 bits
		text = strings.ReplaceAll(text, "old_timespec32", "__kernel_timespec")
	}
	a := parseSyscallArg(text)
	if t, ok := compatScalars[plainC(a.CType)]; ok {
		a.Size, a.Signed = t.size, t.signed
	}
	a.Narrow = a.IsStringList || hasCompatStruct(a.CType)
	return a
}

// A Place is where an argument of a system call is.
type Place struct {
	// Register counts those of arguments; -1: it is 0, and in none.
	Register int
	// Wide: the register that follows has the upper half.
	Wide bool
	// Half: the value is the lower half of the register, extended by the sign of its type.
	Half bool
	// Shift is by how many bits the value is longer than the register.
	Shift int
}

// Place says where argument i is. A value of 64 bits takes two registers of 32, on arm an even one and the next.
func (s *Syscall) Place(i int) Place { return s.placeFor(runtime.GOARCH, i) }

func (s *Syscall) placeFor(arch string, i int) (at Place) {
	next := 0
	for k := range s.Args()[:i+1] {
		at = s.place(arch, k, next)
		switch {
		case at.Wide:
			next = at.Register + 2
		case at.Register >= 0:
			next = at.Register + 1
		}
	}
	return at
}

// place is where argument i is if those before it leave the registers from next on.
func (s *Syscall) place(arch string, i, next int) Place {
	a := s.Args()[i]
	long := a.Size == 8
	switch {
	case s.Entry == EntryNative:
		return Place{Register: next}
	case s.Entry == EntryX32 && a.Name == "pos_h": // pos_l is all of the position
		return Place{Register: -1}
	case s.Entry == EntryX32 && a.Name == "pos_l":
		return Place{Register: next}
	case a.CType == Pages:
		return Place{Register: next, Half: true, Shift: 12}
	case !long || s.Entry == EntryX32 || !slices.Contains(wideTypes, a.CType):
		return Place{Register: next, Half: long}
	case arch == "arm64":
		next += next % 2
	}
	return Place{Register: next, Wide: true}
}

// wideTypes have 64 bits in programs of 32, too.
var wideTypes = []string{"loff_t", "u64", "__u64"}

// Number is the number with which programs make the call, in the table of its interface.
func (s *Syscall) Number() int {
	switch nr := s.Nr - CompatBase; {
	case s.Entry == EntryNative:
		return s.Nr
	case s.Entry == EntryX32:
		return s.Nr | X32Bit
	case nr >= firstExtra:
		return nr - firstExtra + CompatExtras
	default:
		return nr
	}
}

// sameCall gives the names under which the other interfaces have a native call with wider arguments, too.
func (s *Syscall) sameCall() []string {
	out := slices.Clone(compatNames[s.ABI])
	for _, suffix := range []string{"", "64", "32", "_time64"} {
		out = append(out, s.ABI+suffix, s.Name+suffix, strings.TrimSuffix(s.ABI, "64")+suffix)
	}
	return out
}

var compatNames = map[string][]string{
	"mmap": {"mmap2"}, "getrlimit": {"ugetrlimit"}, "newfstatat": {"fstatat64"},
	"sync_file_range": {"arm_sync_file_range"}, "fadvise64": {"arm_fadvise64_64", "fadvise64_64"},
}

// does reports whether the call has what programs know of the native one: all of its arguments.
func (s *Syscall) does(native *Syscall) bool {
	for _, a := range native.Args() {
		if !slices.ContainsFunc(s.Args(), func(b SyscallArg) bool { return b.Name == a.Name }) {
			return false
		}
	}
	return true
}

// OtherSyscalls gives the calls of this architecture's other interfaces by number. They are shared: do not change them.
func OtherSyscalls() []Syscall { return syscallsOf(runtime.GOARCH).others }

// matchOthers gives the calls of other interfaces one of whose names matches the glob, and those that do the same as a
// native call that does.
func (t *syscallTable) matchOthers(g naming.Glob, native []Syscall) (out []Syscall) {
	same := map[string]*Syscall{}
	for i := range native {
		for _, name := range native[i].sameCall() {
			same[name] = &native[i]
		}
	}
	for _, s := range t.others {
		n := same[s.ABI]
		own := t.at(t.byName[s.ABI]).Name == s.Name ||
			t.byName[s.ABI] >= len(t.list) // it is not that of another native call
		if g.Match(s.Name) || own && g.Match(s.ABI) || n != nil && s.does(n) {
			out = append(out, s)
		}
	}
	return out
}

// withoutX32 is the number of a call that has another one, by which programs make it as one of x32.
func withoutX32(nr int) int {
	if n := nr - X32Bit; runtime.GOARCH == "amd64" && n >= 0 && n < X32Size {
		return n
	}
	return nr
}

// NameNumber is the number that stands for the name of a call, whatever interface it is made by: the least that has it.
func NameNumber(nr int) int {
	t := syscallsOf(runtime.GOARCH)
	if i, ok := t.byNr[withoutX32(nr)]; ok {
		one := t.at(i)
		if first := t.at(t.byName[one.Name]); first.Name == one.Name { // not one that is called so besides its own name
			return first.Nr
		}
		return one.Nr
	}
	return nr
}
