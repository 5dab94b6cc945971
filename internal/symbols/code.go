package symbols

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/startrace/startrace/internal/mapping"
)

// What a process has mapped as code.

// A Mapped is code that a process has mapped.
type Mapped struct {
	mapping.Mapping
	// File tells files apart, by ==: one that was written anew is another. nil: there is none that can be opened.
	File any
	// Open opens the file, as long as nothing else is asked of the Namer.
	Open func() (*os.File, error)
	// Loaded: the program has asked for it while it ran, and may unload it.
	Loaded bool
}

// Code calls f with what a process that lives has mapped as code, as far as it is known.
func (t *Namer) Code(pid int, f func(m Mapped)) {
	p := t.processes.get(pid)
	if !p.told {
		p = t.update(p, 0)
	}
	if p.over {
		return
	}
	if len(p.maps) == 0 {
		t.inherit(p)
	}
	for i := range p.maps {
		a := &p.maps[i]
		if a.Inode == 0 || a.anonymous() || a.version == (fileVersion{}) && !t.identify(p, a) {
			f(Mapped{Mapping: a.Mapping})
			continue
		}
		f(Mapped{a.Mapping, a.version, func() (*os.File, error) {
			at, ok := t.find(p, a)
			if !ok {
				return nil, os.ErrNotExist
			}
			return os.Open(at.path)
		}, a.loaded})
	}
}

// Stamp gives what the kernel knows of the file when it is mapped: its device, inode and size, and when it was changed.
func (v fileVersion) Stamp() (device string, inode uint64, size int64, changed time.Time) {
	return v.dev, v.inode, v.size, v.modified
}

// identify notes which version of its file an area has; false where the file is out of reach.
func (t *Namer) identify(p *Process, a *area) bool {
	_, ok := t.find(p, a)
	return ok
}

// File gives what Code will say of a file, by its path in our own mount namespace; false where there is none.
func (t *Namer) File(path string) (file any, ok bool) {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() {
		return nil, false
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, false
	}
	return fileVersion{fileID{deviceName(sys.Dev), sys.Ino}, st.Size(), st.ModTime()}, true
}

// deviceName is a device as /proc/PID/maps has it. Of its number 12 and 20 bits are the major number (new_encode_dev
// and huge_encode_dev, include/linux/kdev_t.h).
func deviceName(dev uint64) string {
	return fmt.Sprintf("%02x:%02x", dev>>8&0xfff|dev>>32&^0xfff, dev&0xff|dev>>12&^0xff)
}

// An area is code that a process has mapped.
type area struct {
	mapping.Mapping
	version    fileVersion // of the file, once it was opened
	unreadable bool        // it could not be opened
	loaded     bool        // the program has asked for it while it ran, and may unload it
}

// A fileID tells files apart; inode 0 is no file.
type fileID struct {
	dev   string
	inode uint64
}

// overlaps reports whether another area has an address of this one.
func (a *area) overlaps(b area) bool { return a.Start < b.End && b.Start < a.End }

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
