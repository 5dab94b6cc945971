package kernel

import (
	_ "embed"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// compatText are the system calls of the kernel's 32-bit interface: their names in unistd.h, their numbers for i386 (int 0x80
// on amd64; arch/x86/entry/syscalls/syscall_32.tbl) and for arm (AArch32 on arm64; arch/arm64/tools/syscall_32.tbl), as
// golang.org/x/sys/unix has them, a line each, - for none.
//
//go:embed tables/compat.txt
var compatText string

var compatTable = sync.OnceValue(func() map[string]int {
	column, ok := map[string]int{"amd64": 1, "arm64": 2}[runtime.GOARCH]
	out := map[string]int{}
	for line := range strings.Lines(compatText) {
		words := strings.Fields(line)
		if ok && words[column] != "-" {
			out[words[0]], _ = strconv.Atoi(words[column]) // shipped text, checked by a test
		}
	}
	return out
})

// compatNames are other names of a call among those of the 32-bit interface, which has some with wider arguments, too.
var compatNames = map[string][]string{
	"lseek": {"_llseek"}, "mmap": {"mmap2"}, "select": {"_newselect"}, "umount2": {"umount"}, "sync_file_range": {"arm_sync_file_range"},
}

// CompatNumbers gives the numbers that calls have in the 32-bit interface of this machine's kernel, sorted.
func CompatNumbers(calls []Syscall) []int {
	var out []int
	for _, sc := range calls {
		names := compatNames[sc.ABI]
		for _, suffix := range []string{"", "64", "32", "_time64"} {
			names = append(slices.Clip(names), sc.ABI+suffix, sc.Name+suffix, strings.TrimSuffix(sc.ABI, "64")+suffix)
		}
		for _, name := range names {
			if nr, ok := compatTable()[name]; ok {
				out = append(out, nr)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// AllCompatNumbers gives the numbers of the whole 32-bit interface, sorted.
func AllCompatNumbers() []int {
	var out []int
	for _, nr := range compatTable() {
		out = append(out, nr)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
