// Package mapping says what processes have mapped: it reads the lines of
// /proc/PID/maps (proc_pid_maps(5)), and has the events of package sideband.
//
// Files of other processes may be gone or lie in other mount namespaces: a path
// is a name here, nothing is opened by it.
package mapping

import (
	"io"
	"os"
	"strconv"
	"strings"
)

// The lines of /proc/PID/maps.

// A Mapping is a part of a process's memory.
type Mapping struct {
	// Start is the address of its first byte, End that of the byte behind it.
	Start, End uint64
	Offset     uint64 // in the file
	Code       bool   // it may be executed
	// Dev and Inode are those of the file; inode 0 is no file.
	Dev   string
	Inode uint64
	// Path is the file's in the mount namespace of the process, "" of memory that
	// is no file's; [vdso], [stack].
	Path string
	// Deleted: the file has no name any more, or another one has it.
	Deleted bool
}

// most bounds what is read of one process: it has at most vm.max_map_count
// mappings, 65530 unless somebody raised it.
const most = 32 << 20

// Read gives the mappings of a process by its folder in /proc.
func Read(dir string) ([]Mapping, error) {
	f, err := os.Open(dir + "/maps")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil, err
	}
	return Parse(string(text)), nil
}

// Parse reads lines as
//
//	559e0c2a1000-559e0c2a5000 r-xp 00002000 fe:00 1234   /usr/bin/cat
//
// and passes over a line of another form.
func Parse(text string) (out []Mapping) {
	for line := range strings.Lines(text) {
		if m, ok := parseLine(line); ok {
			out = append(out, m)
		}
	}
	return out
}

func parseLine(line string) (m Mapping, ok bool) {
	f := strings.Fields(line)
	if len(f) < 5 {
		return m, false
	}
	from, to, _ := strings.Cut(f[0], "-")
	var errs [4]error
	m.Start, errs[0] = strconv.ParseUint(from, 16, 64)
	m.End, errs[1] = strconv.ParseUint(to, 16, 64)
	m.Offset, errs[2] = strconv.ParseUint(f[2], 16, 64)
	m.Inode, errs[3] = strconv.ParseUint(f[4], 10, 64)
	if errs != [4]error{} || m.End <= m.Start {
		return m, false
	}
	m.Code, m.Dev = strings.Contains(f[1], "x"), strings.Clone(f[3])
	if len(f) > 5 {
		m.SetPath(pathOf(line))
	}
	return m, true
}

// SetPath takes a path as the kernel writes it (d_path of fs/d_path.c).
func (m *Mapping) SetPath(path string) {
	m.Path, m.Deleted = strings.CutSuffix(path, " (deleted)")
}

// pathOf gives what stands behind the fifth column: a path may have blanks; a
// newline in it is written \012.
func pathOf(line string) string {
	rest := line
	for range 5 {
		rest = strings.TrimLeft(rest, " ")
		_, rest, _ = strings.Cut(rest, " ")
	}
	rest = strings.TrimSuffix(strings.TrimLeft(rest, " "), "\n")
	return strings.Clone(strings.ReplaceAll(rest, `\012`, "\n"))
}

// File says whether it is a file that has a path. Records of the kernel call memory without a file //anon.
func (m *Mapping) File() bool { return strings.HasPrefix(m.Path, "/") && m.Path != "//anon" }

// Range is the mapping's name in /proc/PID/map_files (proc_pid_map_files(5)).
func (m *Mapping) Range() string {
	return strconv.FormatUint(m.Start, 16) + "-" + strconv.FormatUint(m.End, 16)
}
