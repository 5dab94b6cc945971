package symbols

import (
	"io"
	"os"
	"path"
	"strconv"
	"strings"
)

// A mapping is a line of /proc/PID/maps.
type mapping struct {
	start, end, offset uint64
	id                 fileID
	path               string // "" of memory that is no file's; [vdso], [stack]

	version    fileVersion // of the file, once it was opened
	unreadable bool        // it could not be opened
}

// A fileID tells files apart; inode 0 is no file.
type fileID struct {
	dev   string
	inode uint64
}

// maxMaps bounds what is read of one process: a process has at most
// vm.max_map_count mappings, 65530 unless somebody raised it.
const maxMaps = 32 << 20

// readMappings reads those of a process by its folder in /proc.
func readMappings(dir string) ([]mapping, error) {
	text, err := readBounded(dir+"/maps", maxMaps)
	if err != nil {
		return nil, err
	}
	return parseMappings(string(text)), nil
}

func readBounded(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// parseMappings reads lines as
//
//	559e0c2a1000-559e0c2a5000 r-xp 00002000 fe:00 1234   /usr/bin/cat
//
// (proc_pid_maps(5)). Only code is of interest; a line of another form is
// passed over.
func parseMappings(text string) (out []mapping) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 5 || !strings.Contains(f[1], "x") {
			continue
		}
		from, to, _ := strings.Cut(f[0], "-")
		var m mapping
		var errs [4]error
		m.start, errs[0] = strconv.ParseUint(from, 16, 64)
		m.end, errs[1] = strconv.ParseUint(to, 16, 64)
		m.offset, errs[2] = strconv.ParseUint(f[2], 16, 64)
		m.id.inode, errs[3] = strconv.ParseUint(f[4], 10, 64)
		m.id.dev = strings.Clone(f[3])
		if errs != [4]error{} || m.end <= m.start {
			continue
		}
		if len(f) > 5 {
			m.path = pathOf(line)
		}
		out = append(out, m)
	}
	return out
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

// module is the file's name as texts show it.
func (m mapping) module() string { return path.Base(m.path) }

// anonymous says whether the memory can hold code that a program made itself.
// Some (the JVM, V8 with --interpreted-frames-native-stack) map a file of
// memory twice.
func (m mapping) anonymous() bool {
	for _, kind := range []string{"[anon", "//anon", "[heap]", "[stack", "/memfd:", "/dev/zero"} {
		if strings.HasPrefix(m.path, kind) {
			return true
		}
	}
	return m.path == ""
}
