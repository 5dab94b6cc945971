package memory

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The program's own pages given back.

// giveBackCode makes the program's own pages, its code and what is constant, be no longer resident. Most of them are
// not used again once a script is compiled and loaded, and those that are come back from the kernel's cache of files.
// Mappings that have a page of their own are left as they are: it can have the breakpoint of another tracer, or what
// was relocated when the program began.
func giveBackCode() {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, m := range unchanged(string(text), self) {
		giveBack(m)
	}
}

// giveBack takes a mapping of a file out of memory. Where that cannot be, it stays.
func giveBack(m mapped) {
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.begin, m.end-m.begin, unix.MADV_DONTNEED)
}

// A mapped is a mapping of this process.
type mapped struct{ begin, end uintptr }

// unchanged gives the mappings of a file that cannot be written and have only pages of the file, by the text of
// /proc/PID/smaps (man 5 proc_pid_smaps): a line that says what is mapped where, and some with a name and a number.
func unchanged(smaps, file string) (out []mapped) {
	var of mapped // the mapping that the lines are about, where it may be one of those
	for line := range strings.Lines(smaps) {
		words := strings.Fields(line)
		switch {
		case len(words) >= 5 && !strings.HasSuffix(words[0], ":"):
			of = mappingOf(words, line, file)
		case len(words) >= 2 && words[0] == "Anonymous:" && words[1] == "0" && of != mapped{}:
			out = append(out, of)
		}
	}
	return out
}

// mappingOf is the mapping that a line is about, none if it can be written or is of something else.
func mappingOf(words []string, line, file string) mapped {
	from, to, _ := strings.Cut(words[0], "-")
	begin, err1 := strconv.ParseUint(from, 16, 64)
	end, err2 := strconv.ParseUint(to, 16, 64)
	readOnly := words[1] == "r-xp" || words[1] == "r--p"
	if err1 != nil || err2 != nil || !readOnly || !strings.HasSuffix(line, " "+file+"\n") {
		return mapped{}
	}
	return mapped{uintptr(begin), uintptr(end)}
}
