package symbols

import (
	"fmt"
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
}

// A fileID tells files apart; inode 0 is no file.
type fileID struct {
	dev   string
	inode uint64
}

func readMappings(pid int) ([]mapping, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, err
	}
	return parseMappings(string(text)), nil
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
		m.id.dev = f[3]
		if errs != [4]error{} {
			continue
		}
		if len(f) > 5 { // a path may have blanks
			m.path = strings.TrimSuffix(line[strings.Index(line, f[5]):], "\n")
		}
		out = append(out, m)
	}
	return out
}

// module is the file's name as texts show it.
func (m mapping) module() string { return path.Base(m.path) }
