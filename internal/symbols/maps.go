package symbols

import (
	"io"
	"os"
	"strings"

	"github.com/startrace/startrace/internal/mapping"
)

// An area is code that a process has mapped.
type area struct {
	mapping.Mapping
	version    fileVersion // of the file, once it was opened
	unreadable bool        // it could not be opened
}

// A fileID tells files apart; inode 0 is no file.
type fileID struct {
	dev   string
	inode uint64
}

func (a *area) id() fileID { return fileID{a.Dev, a.Inode} }

// readCode reads what a process has mapped as code, by its folder in /proc.
func readCode(dir string) (out []area, err error) {
	list, err := mapping.Read(dir)
	for _, m := range list {
		if m.Code {
			out = append(out, area{Mapping: m})
		}
	}
	return out, err
}

func readBounded(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// anonymous says whether the memory can hold code that a program made itself.
// Some (the JVM, V8 with --interpreted-frames-native-stack) map a file of
// memory twice.
func (a *area) anonymous() bool {
	for _, kind := range []string{"[anon", "//anon", "[heap]", "[stack", "/memfd:", "/dev/zero"} {
		if strings.HasPrefix(a.Path, kind) {
			return true
		}
	}
	return a.Path == ""
}
